import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Redaction } from '../../lib/store/redis/connection/redaction.js';
import { RedisServer } from '../support/redis-server.js';
import { startWorker, type Worker } from '../support/worker.js';
import type { ConnectingCalls, Outcome } from './connecting.worker.js';

const SECRET = 'p@ss:w/rd%41 ☃';
const USER = 'shop-user-7';

describe('A Redis that cannot be used', () => {
  let server: RedisServer;
  let worker: Worker<ConnectingCalls>;

  beforeAll(async () => {
    [server, worker] = await Promise.all([
      RedisServer.start({ password: 'another' }),
      startWorker<ConnectingCalls>(join(__dirname, 'connecting.worker.ts')),
    ]);
  });
  afterAll(() => Promise.all([worker.kill(), server.stop()]));

  /** Nothing breaks, and nothing that is printed anywhere has the credentials in it. */
  const expectHarmless = ({ printed, causes, logged, unhandled }: Outcome): void => {
    expect(unhandled).toEqual([]);
    expect(worker.running).toBe(true);
    const texts = [printed, ...causes, ...logged, worker.output].join('\n');
    for (const secret of [SECRET, encodeURIComponent(SECRET), JSON.stringify(SECRET).slice(1, -1), USER]) {
      expect(texts).not.toContain(secret);
    }
    expect(texts).not.toContain('Unhandled error event');
  };

  const credentials = `${USER}:${encodeURIComponent(SECRET)}`;

  it('because the password is wrong is a clear log line and LockUnavailableError, without the password', async () => {
    const outcome = await worker.call(
      'attempt',
      `redis://:${encodeURIComponent(SECRET)}@127.0.0.1:${server.port}`,
    );

    expect(outcome.code).toBe('LOCK_UNAVAILABLE');
    expect(outcome.logged).toEqual([expect.stringMatching(/^Redis cannot be used for locks: WRONGPASS/)]);
    expect(outcome.causes.join()).toContain('WRONGPASS');
    expectHarmless(outcome);
  });

  it('because the user is unknown is a clear log line and LockUnavailableError, without the user', async () => {
    const outcome = await worker.call('attempt', `redis://${credentials}@127.0.0.1:${server.port}`);

    expect(outcome.code).toBe('LOCK_UNAVAILABLE');
    expect(outcome.logged).toEqual([expect.stringMatching(/^Redis cannot be used for locks: WRONGPASS/)]);
    expectHarmless(outcome);
  });

  it('because the password is wrong, given as ioredis options, is no different', async () => {
    const outcome = await worker.call('attempt', { port: server.port, username: USER, password: SECRET });

    expect(outcome.code).toBe('LOCK_UNAVAILABLE');
    expect(outcome.logged.join()).toContain('WRONGPASS');
    expectHarmless(outcome);
  });

  it('because no password is given is a clear log line and LockUnavailableError', async () => {
    const outcome = await worker.call('attempt', `redis://127.0.0.1:${server.port}`);

    expect(outcome.code).toBe('LOCK_UNAVAILABLE');
    expect(outcome.message).toContain('refused');
    expect(outcome.logged).toEqual([expect.stringContaining('NOAUTH')]);
    expectHarmless(outcome);
  });

  it('because nobody listens at the address is a clear log line and LockUnavailableError', async () => {
    const outcome = await worker.call('attempt', `redis://${credentials}@127.0.0.1:1/2`);

    expect(outcome.code).toBe('LOCK_UNAVAILABLE');
    expect(outcome.message).toContain('did not answer');
    expect(outcome.logged).toEqual([
      expect.stringMatching(/^Redis cannot be used for locks: connect ECONNREFUSED 127\.0\.0\.1:1$/),
    ]);
    expectHarmless(outcome);
  });

  it('because the host does not exist is a clear log line and LockUnavailableError', async () => {
    const outcome = await worker.call('attempt', `redis://${credentials}@no-such-host.invalid:6379`);

    expect(outcome.code).toBe('LOCK_UNAVAILABLE');
    expect(outcome.logged.join()).toMatch(/no-such-host\.invalid/);
    expectHarmless(outcome);
  });

  it('because something else answers is LockUnavailableError', async () => {
    const imposter = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    });
    await new Promise<void>((resolve) => imposter.listen(0, '127.0.0.1', resolve));
    const { port } = imposter.address() as AddressInfo;
    const outcome = await worker.call('attempt', `redis://${credentials}@127.0.0.1:${port}`);
    imposter.close();

    expect(outcome.code).toBe('LOCK_UNAVAILABLE');
    expect(outcome.logged.length).toBeGreaterThan(0);
    expectHarmless(outcome);
  });

  it('because it speaks no TLS is LockUnavailableError, which says how far the client got', async () => {
    const outcome = await worker.call('attempt', `rediss://${credentials}@127.0.0.1:${server.port}`);

    expect(outcome.code).toBe('LOCK_UNAVAILABLE');
    expect(outcome.causes.join()).toContain('connecting');
    expectHarmless(outcome);
  });

  it('for a reason in which the password stands is told without it, plain or encoded', () => {
    const redaction = new Redaction({ password: SECRET }, {}, { password: '' });
    const error = redaction.error(
      new Error(`AUTH ${SECRET} failed for redis://:${encodeURIComponent(SECRET)}@h`),
    );

    expect(error.message).toBe('AUTH *** failed for redis://:***@h');
    expect(String(error.stack)).not.toContain(SECRET);
    expect(redaction.text('nothing secret')).toBe('nothing secret');
  });

  it('at any of several addresses of a host is a log line with all of them', () => {
    const refused = ['connect ECONNREFUSED ::1:6379', 'connect ECONNREFUSED 127.0.0.1:6379'];
    const error = new AggregateError(refused.map((message) => new Error(message)));

    expect(new Redaction().error(error).message).toBe(refused.join('; '));
  });
});
