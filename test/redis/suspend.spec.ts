import type { Lock } from '../../lib/index.js';
import { duringEachTest } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { waitFor } from '../support/wait-for.js';
import { Instance } from './instance.js';

const MINUTE = 60_000;

/** The monotonic clock stands still while a machine sleeps, so all that a process sees of it is a wall clock ahead. */
describe('A machine that slept for longer than the lease', () => {
  afterEach(() => jest.restoreAllMocks());
  const server = duringEachTest(() => RedisServer.start());
  const instance = duringEachTest(() => {
    // So long that no timer of theirs asks for the time.
    const limits = { commandTimeout: MINUTE, outageTimeout: MINUTE };
    return new Instance({ connection: server.url, ...limits }).warmUp();
  });
  let lock: Lock;

  beforeEach(async () => {
    lock = await instance.locks.acquire('n');
  });

  const sleep = (): void => {
    const now = Date.now.bind(Date);
    jest.spyOn(Date, 'now').mockImplementation(() => now() + MINUTE);
  };

  it('aborts the signal long before the next renewal, without another reading of the clock', async () => {
    const { signal } = lock;
    sleep();

    await waitFor(() => signal.aborted, { timeout: 3_000, that: 'the signal to abort' });
    expect(signal.reason).toMatchObject({ code: 'LOCK_LOST', reason: 'expired' });
  });
});
