import { parsePlace } from '../place.js';
import { isFrom } from '../turn-name.js';

/** The queues of names: waiting instances by arrival, with their times. */
export class MemoryQueues {
  private readonly queues = new Map<string, Map<string, number>>();

  /** @param now the time in milliseconds since 1970 */
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

  /** Removes the places of a part of a shared turn and of later parts. */
  leave(name: string, instance: string, turn: string): void {
    for (const place of this.of(name).keys()) {
      const { instance: waiting, shared } = parsePlace(place);
      if (waiting === instance && shared && isFrom(shared.turn, turn)) this.dequeue(name, place);
    }
  }

  /** Replaces a place by the rest of its turn, at the same position. */
  replace(name: string, place: string, rest: string | undefined): void {
    if (rest === undefined) return this.dequeue(name, place);
    const queue = [...this.of(name)].filter(([each]) => each !== rest);
    this.queues.set(name, new Map(queue.map(([each, since]) => [each === place ? rest : each, since])));
  }

  clear(): void {
    this.queues.clear();
  }
}
