import type { LockLog } from '../../lib/diagnostics/lock-log.js';
import { SystemClock } from '../../lib/primitives/clock.js';
import { type NodeEvents, NotAsked } from '../../lib/store/quorum/quorum-node.js';
import { RedisNode } from '../../lib/store/quorum/redis-node.js';
import { sendScript } from '../../lib/store/scripts/send.script.js';
import { QUIET } from '../support/quiet.js';
import { RedisServer } from '../support/redis-server.js';
import { waitFor } from '../support/wait-for.js';

/** More than a node may leave unanswered for longer than nodeTimeout. */
const MANY = 150;

const NO_EVENTS: NodeEvents = {
  released: () => undefined,
  revoked: () => undefined,
  told: () => undefined,
  subscribed: () => undefined,
  reconnected: () => undefined,
  unusable: () => undefined,
};

describe('A node of a quorum', () => {
  let server: RedisServer;
  let node: RedisNode;

  const open = (nodeTimeout: number, log: LockLog = QUIET): RedisNode => {
    const settings = { connection: server.url, keyPrefix: 'lock:', instance: 'me', commandTimeout: 10_000 };
    return new RedisNode({ ...settings, nodeTimeout, clock: new SystemClock(), log });
  };
  const send = (): Promise<unknown> => node.run('take', sendScript, [], ['nobody', 'hello']);

  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterAll(() => server.stop());
  afterEach(() => node.close());

  it('receives any number of requests at once', async () => {
    node = open(10_000);
    const sent = Array.from({ length: MANY }, send);

    expect(await Promise.all(sent)).toEqual(sent.map(() => 0));
  });

  it('receives no more requests if it has answered none of many for nodeTimeout', async () => {
    node = open(50);
    await send();
    server.freeze();
    const refused: unknown[] = [];
    const sendOn = (): void => void send().catch((error: unknown) => refused.push(error));
    for (let i = 0; i < MANY; i++) sendOn();
    await waitFor(() => (sendOn(), refused.length > 0), { that: 'a request to be refused' });
    server.thaw();

    expect(refused[0]).toBeInstanceOf(NotAsked);
    await waitFor(async () => (await send()) === 0, { that: 'the node to receive requests again' });
  });

  it('reports a release only if a message begins with it, as the names in messages are arbitrary', async () => {
    node = open(5_000);
    const released: unknown[] = [];
    node.open({ ...NO_EVENTS, released: (name, last) => released.push([name, last]) });
    await waitFor(() => node.listening);
    const messages = ['revoked released 3 a', 'released 4 released 5 b'];
    for (const message of messages) await server.client().publish('lock:inbox:me', message);

    await waitFor(() => released.length > 0);
    expect(released).toEqual([['released 5 b', 4]]);
  });

  it('rejects requests to acquire at once while its client reconnects', async () => {
    node = open(5_000);
    await send();
    await server.kill();
    const errors: unknown[] = [];
    // Requests before the client knows of the outage are not answered.
    const request = (): void => void send().catch((error: unknown) => errors.push(error));

    await waitFor(
      () => {
        request();
        return errors.some((error) => error instanceof NotAsked);
      },
      // After 5,000 ms, unanswered requests would have this effect.
      { timeout: 4_000, that: 'a request that is not sent' },
    );
    await server.restart({ keepData: false });
  });

  it('logs an outage and its end with the address of the server', async () => {
    const logged: string[] = [];
    const note = (message: string): void => void logged.push(message);
    node = open(5_000, { log: note, warn: note, error: note });
    await send();
    await server.kill();
    await waitFor(() => logged.length > 0, { that: 'the outage to be logged' });
    await server.restart({ keepData: false });

    const address = `127.0.0.1:${server.port}`;
    const ended = `${address}: Redis can be used for locks again.`;
    await waitFor(() => logged.includes(ended), { that: 'the end of the outage to be logged' });
    expect(logged[0]).toContain(`${address}: Redis cannot be used for locks: `);
  });
});
