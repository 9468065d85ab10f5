import type { Clock } from '../../primitives/clock.js';
import { listingOf, type LockListing } from '../../store/lock-listing.js';
import type { LockInfo, LockSnapshot } from '../../store/lock-snapshot.interface.js';
import type { LockStore } from '../../store/lock-store.js';
import type { Labels } from './labels.js';
import type { LeaseKeeper } from './lease-keeper.js';
import type { OwnHold } from './lock.interface.js';

interface ViewContext {
  readonly clock: Clock;
  readonly store: LockStore;
  readonly keeper: LeaseKeeper;
  readonly labels: Labels;
  open(): void;
  waitersOf(name: string): number;
}

/** Lists holders and waiters with labels, of this instance and of all. */
export class LockViews {
  constructor(private readonly context: ViewContext) {}

  /** The holds of this instance, oldest grant first. */
  holds(): OwnHold[] {
    const { context } = this;
    // One time for all entries: otherwise a pause between two readings would order them wrongly.
    const now = context.clock.now();
    return [...context.keeper]
      .flatMap(({ hold }) => hold?.describe(now) ?? [])
      .map((hold) => ({ ...hold, waiting: context.waitersOf(hold.name) }))
      .toSorted((a, b) => b.held - a.held);
  }

  async query(name: string): Promise<LockSnapshot> {
    this.context.open();
    const { held, pending } = await this.context.store.query(name);
    return { held: await this.labelled(held), pending };
  }

  /** Iterates over the held names with a prefix, some at a time. */
  async *list(beginning: string): AsyncGenerator<readonly LockListing[], void> {
    this.context.open();
    for await (const page of this.context.store.list(beginning)) {
      const single = await this.labelled(page.flatMap(({ held }) => (held.length === 1 ? held : [])));
      const labels = new Map(single.map((each) => [each.name, [each]]));
      yield page.map(({ held, pending }) =>
        listingOf({ held: labels.get(held[0]?.name ?? '') ?? held, pending }),
      );
    }
  }

  private async labelled(held: readonly LockInfo[]): Promise<LockInfo[]> {
    const labels = await this.context.labels.of(held);
    return held.map((each, i) => (labels[i] === undefined ? each : { ...each, label: labels[i] }));
  }
}
