import { listingOf, type LockListing } from '../../store/lock-listing.js';
import type { LockInfo, LockSnapshot } from '../../store/lock-snapshot.interface.js';
import type { LockStore } from '../../store/lock-store.js';
import type { Labels } from './labels.js';
import type { Leases } from './leases.js';
import type { OwnHold } from './lock.interface.js';

/** Lists holders and waiters with labels, of this instance and of all. */
export class LockViews {
  /**
   * @param openStore opens the store if that has not happened yet
   * @param waitersOf the number of callers here that wait for a name
   */
  constructor(
    private readonly leases: Leases,
    private readonly labels: Labels,
    private readonly openStore: () => LockStore,
    private readonly waitersOf: (name: string) => number,
  ) {}

  /** The holds of this instance, oldest grant first. */
  holds(): OwnHold[] {
    const { clock, keeper } = this.leases;
    // One time for all entries: otherwise a pause between two readings would order them wrongly.
    const now = clock.now();
    return [...keeper]
      .flatMap(({ hold }) => hold?.describe(now) ?? [])
      .map((hold) => ({ ...hold, waiting: this.waitersOf(hold.name) }))
      .toSorted((a, b) => b.age - a.age);
  }

  async query(name: string): Promise<LockSnapshot> {
    const snapshot = await this.openStore().query(name);
    return { ...snapshot, held: await this.labelled(snapshot.held) };
  }

  /** Iterates over the held names with a prefix, some at a time. */
  async *list(beginning: string): AsyncGenerator<readonly LockListing[], void> {
    for await (const page of this.openStore().list(beginning)) {
      const single = await this.labelled(page.flatMap(({ held }) => (held.length === 1 ? held : [])));
      const labels = new Map(single.map((each) => [each.name, [each]]));
      yield page.map(({ held, pending }) =>
        listingOf({ held: labels.get(held[0]?.name ?? '') ?? held, pending }),
      );
    }
  }

  private async labelled(held: readonly LockInfo[]): Promise<LockInfo[]> {
    const labels = await this.labels.of(held);
    return held.map((each, i) => (labels[i] === undefined ? each : { ...each, label: labels[i] }));
  }
}
