import { isQueued } from '../../contract/observe.js';
import { Instance } from '../../redis/instance.js';
import { LEAST_RIGHTS, READY_CHECK_RIGHT, REPLICAS_RIGHT } from '../../scripts/least-rights.js';
import { duringTests } from '../../support/during-tests.js';
import { ReplicaSet } from '../../support/replica-set.js';

const AMPLE = 20_000;

/** One Redis without replicas: test/scripts/rights.spec.ts. */
describe('A Redis user with the least rights, on a master with a replica', () => {
  const rights = [READY_CHECK_RIGHT, ...LEAST_RIGHTS].join(' ');
  const acl = [
    'user default on nopass ~* &* +@all',
    `user app on >secret ${rights} ${REPLICAS_RIGHT}`,
    `user without on >secret ${rights}`,
  ];
  const set = duringTests(() => ReplicaSet.start(1, { acl }));

  const open = (user: string): Instance => {
    const connection = `redis://${user}:secret@127.0.0.1:${set.master.port}`;
    return new Instance({
      connection,
      wait: AMPLE,
      outageTimeout: AMPLE,
      replicas: { min: 1, timeout: AMPLE },
    });
  };

  it('needs WAIT to have replicas know of a lock, and nothing else', async () => {
    await using first = await open('app').warmUp();
    await using second = await open('app').warmUp();
    const lock = await first.locks.acquire('job');
    const waiting = second.locks.acquire('job');
    await isQueued(first.locks, 'job', 1);
    await lock.extend();
    await lock.release();
    await using next = await waiting;

    expect(next.held).toBe(true);
    expect([...first.logged, ...second.logged]).toEqual([]);
  });

  it('without WAIT is refused at once, and the lock is free again', async () => {
    await using instance = open('without');

    await expect(instance.locks.acquire('job')).rejects.toMatchObject({
      code: 'LOCK_UNAVAILABLE',
      message: expect.stringMatching(/^Redis refused the request \(NOPERM /) as string,
      cause: { cause: { message: expect.stringMatching(/^NOPERM .*wait/i) as string } },
    });

    expect(await set.master.client().exists('lock:{job}')).toBe(0);
  });
});
