import { join } from 'node:path';
import { isQueued } from '../../contract/observe.js';
import type { ConnectingCalls } from '../../redis/connecting.worker.js';
import { Instance } from '../../redis/instance.js';
import { Certificate, HAS_OPENSSL } from '../../support/certificate.js';
import { duringTests } from '../../support/during-tests.js';
import { RedisServer } from '../../support/redis-server.js';
import { TlsFront } from '../../support/tls-front.js';
import { waitFor } from '../../support/wait-for.js';
import { startWorker } from '../../support/worker.js';

const AMPLE = 20_000;
/** Milliseconds for a handshake, though the machine may stand still for a second. */
const REFUSED = 3_000;
const WORKER = join(__dirname, '../../redis/connecting.worker.ts');

const [suite, reason] = HAS_OPENSSL
  ? [describe, '']
  : [describe.skip, ' (skipped: there is no openssl on PATH)'];

suite(`A Redis behind TLS with a self-made certificate${reason}`, () => {
  const certificate = duringTests(() => Certificate.create());
  const server = duringTests(() => RedisServer.start({ password: 's3cret' }));
  const front = duringTests(() => TlsFront.start(server, certificate));

  it('is reached with the tls options of ioredis, by every connection', async () => {
    const connection = {
      host: '127.0.0.1',
      port: front.port,
      password: 's3cret',
      tls: { ca: certificate.certificate },
    };
    await using first = await new Instance({ connection }).warmUp();
    await using second = await new Instance({ connection }).warmUp();
    const lock = await first.locks.acquire('job');
    const waiting = second.locks.acquire('job', { wait: AMPLE, outageTimeout: AMPLE });
    await isQueued(first.locks, 'job', 1);
    expect(front.connections).toBe(4);

    front.cut();
    await waitFor(() => front.connections === 4, { timeout: AMPLE, that: 'everybody to be connected again' });
    await lock.release();

    await using next = await waiting;
    expect(next.fencingToken).toBeGreaterThan(lock.fencingToken);
  });

  it('is reached with a rediss:// URL, by a process that trusts the certificate', async () => {
    const env = { ...process.env, NODE_EXTRA_CA_CERTS: certificate.file };
    await using worker = await startWorker<ConnectingCalls>(WORKER, [], { env });

    const outcome = await worker.call('attempt', `rediss://:s3cret@127.0.0.1:${front.port}`, AMPLE);

    expect(outcome).toMatchObject({ code: undefined, message: '', logged: [], unhandled: [] });
  });

  it('is refused by a process that does not trust the certificate, with a log line that says so', async () => {
    await using worker = await startWorker<ConnectingCalls>(WORKER);

    const outcome = await worker.call('attempt', `rediss://:s3cret@127.0.0.1:${front.port}`, REFUSED);

    expect(outcome.code).toBe('LOCK_UNAVAILABLE');
    expect(outcome.logged).toEqual([
      expect.stringMatching(/^Redis cannot be used for locks: 127\.0\.0\.1:\d+: self-signed certificate$/),
    ]);
    expect(outcome.printed).not.toContain('s3cret');
    expect(outcome.unhandled).toEqual([]);
  });
});
