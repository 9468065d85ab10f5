import type { Redis } from 'ioredis';
import { setTimeout as sleep } from 'node:timers/promises';
import { waitFor } from '../support/wait-for.js';
import type { Instance } from './instance.js';
import { PlainLock } from './plain-lock.js';

/** What a run of callers of two packages on one name looks like. */
interface Rollout {
  readonly name: string;
  /** Four callers use these instances in turn. */
  readonly instances: readonly Instance[];
  readonly client: Redis;
  /** Milliseconds that each hold lasts. */
  readonly work: number;
  /** Number of holds after which the run ends. */
  readonly holds: number;
}

/** Counts the holds of four callers of this package, and of four callers of the other one. */
export async function shareName({
  name,
  instances,
  client,
  work,
  holds,
}: Rollout): Promise<[number, number]> {
  const counts: [number, number] = [0, 0];
  const isOver = (): boolean => counts[0] + counts[1] >= holds;
  const hold = async (of: 0 | 1): Promise<void> => {
    if (!isOver()) counts[of]++;
    await sleep(work);
  };
  /** A job every now and then, as requests arrive: it pauses as long as it works, on average. */
  const repeat = async (job: () => Promise<unknown>): Promise<void> => {
    while (!isOver()) {
      await job();
      await sleep(2 * Math.random() * work);
    }
  };
  const theirs = Array.from({ length: 4 }, () => {
    const lock = new PlainLock(client, `lock:{${name}}`);
    return repeat(async () => {
      while (!(await lock.tryAcquire(10_000))) {
        if (isOver()) return;
        await sleep(retryDelay());
      }
      await hold(1);
      await lock.release();
    });
  });
  // Without an earlier hold of the other package, this one does not know of it.
  await waitFor(() => counts[1] > 0, { that: 'a hold of the other package' });
  const ours = Array.from({ length: 4 }, (_, i) =>
    repeat(async () => instances[i % instances.length]?.locks.using(name, { wait: 60_000 }, () => hold(0))),
  );
  await Promise.all([...ours, ...theirs]);
  return counts;
}

/** The default settings of redlock: `retryDelay` 200, `retryJitter` 100. */
function retryDelay(): number {
  return 200 + Math.floor((2 * Math.random() - 1) * 100);
}
