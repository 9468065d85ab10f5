import { isSamePlace } from '../place.js';

/** The queues of names: waiting instances by arrival, with their times. */
export class MemoryQueues {
  private readonly queues = new Map<string, Map<string, number>>();

  constructor(private readonly now: () => number) {}

  of(name: string): ReadonlyMap<string, number> {
    return this.queues.get(name) ?? new Map();
  }

  enqueue(name: string, place: string): void {
    let queue = this.queues.get(name);
    if (!queue) this.queues.set(name, (queue = new Map()));
    if (!queue.has(place)) queue.set(place, this.now());
  }

  dequeue(name: string, place: string): void {
    const queue = this.queues.get(name);
    if (queue?.delete(place) && queue.size === 0) this.queues.delete(name);
  }

  /** The place of the same instance for the same terms as another place. */
  likeOf(name: string, place: string): string | undefined {
    return [...this.of(name).keys()].find((each) => isSamePlace(each, place));
  }

  /** Replaces a place by what is left of it, at the same position. */
  replace(name: string, place: string, rest: string | undefined): void {
    if (rest === undefined) return this.dequeue(name, place);
    this.queues.set(
      name,
      new Map([...this.of(name)].map(([each, since]) => [each === place ? rest : each, since])),
    );
  }

  clear(): void {
    this.queues.clear();
  }
}
