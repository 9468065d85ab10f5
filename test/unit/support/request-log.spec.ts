import { duringTests } from '../../support/during-tests.js';
import { RedisServer } from '../../support/redis-server.js';
import { RequestLog } from '../../support/request-log.js';

describe('RequestLog', () => {
  const server = duringTests(() => RedisServer.start());
  let log: RequestLog;

  beforeEach(async () => {
    log = await RequestLog.open(server);
  });
  afterEach(() => log.close());

  it('counts a script as one request, whatever it calls', async () => {
    const client = server.client();
    await client.ping();
    await log.clear();

    const script = "redis.call('SET', KEYS[1], '1'); return redis.call('GET', KEYS[1])";
    await client.eval(script, 1, 'name');
    const digest = (await client.script('LOAD', script)) as string;
    await client.evalsha(digest, 1, 'name');
    await client.get('name');

    expect(await log.counts()).toEqual({ eval: 1, script: 1, evalsha: 1, get: 1 });
    const calls = (await log.requests()).map((request) => request.calls);
    expect(calls).toEqual([['set', 'get'], [], ['set', 'get'], []]);
  });

  it('counts every command of a pipeline and of a transaction', async () => {
    const client = server.client();
    await client.ping();
    await log.clear();

    await client.pipeline().set('a', '1').set('b', '2').exec();
    await client.multi().del('a').exec();

    expect(await log.counts()).toEqual({ set: 2, multi: 1, del: 1, exec: 1 });
  });

  it('counts subscriptions and messages', async () => {
    const subscriber = server.client();
    const publisher = server.client();
    await Promise.all([subscriber.ping(), publisher.ping()]);
    await log.clear();

    await subscriber.subscribe('inbox');
    await publisher.publish('inbox', 'hello');

    expect(await log.counts()).toEqual({ subscribe: 1, publish: 1 });
  });

  it('distinguishes the connections and keeps the order', async () => {
    const [first, second] = [server.client(), server.client()];
    await Promise.all([first.ping(), second.ping()]);
    await log.clear();

    await first.set('name', '1');
    await second.del('name');

    const [set, del] = await log.requests();
    expect(set).toMatchObject({ command: 'set', args: ['name', '1'] });
    expect(del).toMatchObject({ command: 'del', args: ['name'] });
    expect(set?.from).not.toBe(del?.from);
  });

  it('contains none of its own commands', async () => {
    await log.clear();
    await log.requests();

    expect(await log.requests()).toEqual([]);
  });
});
