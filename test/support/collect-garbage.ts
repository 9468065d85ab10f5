import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');

/** Collects garbage at once, also without the flag `--expose-gc`. */
export const collectGarbage = runInNewContext('gc') as (options?: { readonly type: 'minor' }) => void;

const COLLECTIONS = 10;
/** Milliseconds in which sockets that were closed, and requests under way, let go of what they refer to. */
const LETTING_GO = 10_000;

/**
 * Waits until nothing refers to the objects any more. Looks at all of them after each collection, which takes a second in
 * a worker of Jest that has run a hundred specs.
 *
 * @throws Error if some of them are still there after ten collections, and ten seconds
 */
export async function untilCollected(objects: readonly WeakRef<object>[]): Promise<void> {
  const startedAt = performance.now();
  for (let turn = 1; ; turn++) {
    // A WeakRef keeps its object until the turn ends in which it was read.
    await sleep(20);
    collectGarbage();
    const kept = objects.filter((object) => object.deref() !== undefined);
    if (kept.length === 0) return;
    if (turn >= COLLECTIONS && performance.now() - startedAt > LETTING_GO)
      throw new Error(`${kept.length} of ${objects.length} objects were not collected`);
  }
}
