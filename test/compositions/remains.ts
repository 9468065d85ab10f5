import { setImmediate as nextTurn } from 'node:timers/promises';
import { collectGarbage } from '../support/collect-garbage.js';

/** Collections until an object counts as kept: some objects go only after others have gone. */
const COLLECTIONS = 5;

/** What the requests to an application leave: the timers of its handlers, and nothing that they reach. */
export class Remains {
  constructor(
    private readonly objects: readonly WeakRef<object>[],
    private readonly timers: readonly NodeJS.Timeout[],
  ) {}

  /** The objects of requests that are still reachable, by the names of their classes. */
  get kept(): string[] {
    return this.objects.flatMap((object) => object.deref()?.constructor.name ?? []);
  }

  /** Ends the timers. */
  clear(): void {
    for (const timer of this.timers) clearTimeout(timer);
  }
}

/** The remains of which something is still reachable. */
export async function notCollected<T extends { readonly remains: Remains }>(all: readonly T[]): Promise<T[]> {
  let left = [...all];
  for (let i = 0; i < COLLECTIONS && left.length > 0; i += 1) {
    // A WeakRef keeps its object until the turn ends in which it was read.
    await nextTurn();
    collectGarbage();
    left = left.filter(({ remains }) => remains.kept.length > 0);
  }
  for (const { remains } of all) remains.clear();
  return left;
}
