import type { LockLog } from '../../lib/diagnostics/lock-log.js';
import { type Clock, SystemClock } from '../../lib/primitives/clock.js';
import { NotAsked, QuorumKeys, type RequestKind } from '../../lib/store/quorum/quorum-node.js';
import { RedisNode } from '../../lib/store/quorum/redis-node.js';
import { commandScript } from '../../lib/store/scripts/command.script.js';
import { quorumAcquireScript } from '../../lib/store/scripts/quorum-acquire.script.js';
import { quorumReleaseScript } from '../../lib/store/scripts/quorum-release.script.js';
import { duringTests } from '../support/during-tests.js';
import { NO_EVENTS } from '../support/no-events.js';
import { QUIET } from '../support/quiet.js';
import { RedisServer } from '../support/redis-server.js';
import { RequestLog } from '../support/request-log.js';
import { waitFor } from '../support/wait-for.js';
import { ManualClock } from '../unit/engine/manual-clock.js';

const NODE_TIMEOUT = 50;
/** The number of requests that a node may leave unanswered for longer than nodeTimeout. */
const MOST = 100;

describe('A node of a quorum', () => {
  const server = duringTests(() => RedisServer.start());
  let node: RedisNode;

  const open = (nodeTimeout: number, log: LockLog = QUIET, clock: Clock = new SystemClock()): RedisNode => {
    const settings = { connection: server.url, keyPrefix: 'lock:', instance: 'me', commandTimeout: 10_000 };
    return new RedisNode({ ...settings, nodeTimeout, clock, log });
  };
  const send = (kind: RequestKind = 'take'): Promise<unknown> =>
    node.run(kind, commandScript, ['lock:{}'], ['PUBLISH', 'nobody', 'hello']);
  const sendMany = (count: number): Promise<unknown>[] => Array.from({ length: count }, () => send());

  afterEach(() => node.close());

  it('receives any number of requests at once, and more when they are answered', async () => {
    const clock = new ManualClock();
    node = open(NODE_TIMEOUT, QUIET, clock);
    const answers = await Promise.all(sendMany(2 * MOST));
    await clock.advance(NODE_TIMEOUT + 1);

    expect([...answers, await send()]).toEqual(Array.from({ length: 2 * MOST + 1 }, () => 0));
  });

  it('receives no more requests to acquire if it has answered none of many for nodeTimeout', async () => {
    const clock = new ManualClock();
    node = open(NODE_TIMEOUT, QUIET, clock);
    await send();
    server.freeze();
    const sent = sendMany(MOST - 1);
    await clock.advance(NODE_TIMEOUT + 1);
    sent.push(send());
    const refused = await send().catch((error: unknown) => error);
    sent.push(send('end'));
    server.thaw();

    expect(refused).toBeInstanceOf(NotAsked);
    expect(refused).toMatchObject({
      message: 'It has not answered 100 requests.',
      cause: { message: expect.stringContaining(`127.0.0.1:${server.port} is connected`) },
    });
    expect(await Promise.all(sent)).toEqual(sent.map(() => 0));
    expect(await send()).toBe(0);
  });

  it('receives requests in the order of the calls, and consecutive ones to one script together', async () => {
    node = open(5_000);
    const keys = new QuorumKeys('me', 'lock:', 5_000);
    const acquire = (name: string, token: number): Promise<unknown> =>
      node.run('take', quorumAcquireScript, keys.of(name), ['me', token, token, 10_000, '', 600_000]);
    const release = (name: string, token: number): Promise<unknown> => {
      const args = ['me', token, 'quiet', '', keys.revocations, 10_000, name];
      return node.run('end', quorumReleaseScript, keys.of(name), args);
    };
    const all = (token: number): Promise<unknown[]> =>
      Promise.all([
        ...[acquire('a', token), acquire('b', token)],
        ...[release('a', token), release('b', token - 1)],
        send(),
        acquire('a', token),
      ]);
    // Afterwards, the server knows the scripts.
    await all(1);
    const log = await RequestLog.open(server);
    const replies = await all(2);
    const counts = await log.counts();
    log.close();
    const [time, accepted, outdated] = [expect.any(Number), 1, 2];

    expect(replies).toEqual([[accepted, time, 2], [accepted, time, 2], 1, 0, 0, [outdated, time, 2]]);
    expect(counts).toEqual({ evalsha: 4 });
  });

  it('reports a release only if a message begins with it, as the names in messages are arbitrary', async () => {
    node = open(5_000);
    const released: unknown[] = [];
    node.open({ ...NO_EVENTS, released: (name) => void released.push(name) });
    await waitFor(() => node.listening);
    const messages = ['revoked released a', 'released released b\n'];
    for (const message of messages) await server.client().publish('lock:inbox:me', message);

    await waitFor(() => released.length > 0);
    expect(released).toEqual(['released b\n']);
  });

  it('rejects requests to acquire at once while its client reconnects', async () => {
    node = open(5_000);
    await send();
    await server.kill();
    const errors: unknown[] = [];
    let refused: NotAsked | undefined;
    // A reset of the old connection names no server; the refusal of the next one does.
    const namesServer = (error: unknown): error is NotAsked =>
      error instanceof NotAsked && error.message.includes(`127.0.0.1:${server.port}`);
    // Requests before the client knows of the outage are not answered.
    const request = (): void => void send().catch((error: unknown) => errors.push(error));

    await waitFor(
      () => {
        request();
        refused = errors.find(namesServer);
        return refused !== undefined;
      },
      // After 5,000 ms, unanswered requests would have this effect.
      { timeout: 4_000, that: 'a request that is not sent, with the address of the server' },
    );
    await server.restart({ keepData: false });

    expect(refused).toMatchObject({ cause: { message: refused?.message } });
  });

  it('reports an outage and its end: in the log with the address of the server', async () => {
    const logged: string[] = [];
    let reconnections = 0;
    const note = (message: string): void => void logged.push(message);
    node = open(5_000, { log: note, warn: note, error: note });
    node.open({ ...NO_EVENTS, reconnected: () => reconnections++ });
    await send();
    await server.kill();
    await waitFor(() => logged.length > 0, { that: 'the outage to be logged' });
    await server.restart({ keepData: false });

    const address = `127.0.0.1:${server.port}`;
    const ended = `${address}: Redis can be used for locks again.`;
    await waitFor(() => logged.includes(ended), { that: 'the end of the outage to be logged' });
    expect(logged[0]).toContain(`${address}: Redis cannot be used for locks: `);
    expect(reconnections).toBe(1);
  });

  it('closes its connections, and then rejects requests to acquire', async () => {
    node = open(5_000);
    expect(node.listening).toBe(false);
    node.open(NO_EVENTS);
    await waitFor(() => node.listening, { that: 'the node to listen' });
    node.close();
    expect(node.listening).toBe(false);

    const client = server.client();
    const listeners = async (): Promise<unknown> => (await client.pubsub('NUMSUB', 'lock:inbox:me'))[1];
    await waitFor(async () => (await listeners()) === 0, { that: 'no listener' });
    const isRefused = (): Promise<boolean> =>
      send().then(
        () => false,
        (error: unknown) => error instanceof NotAsked,
      );
    await waitFor(isRefused, { that: 'a request that is not sent' });
  });
});
