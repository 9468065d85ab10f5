import type { DoneInfo } from '../lock-snapshot.interface.js';
import type { KeepRequest, Mark } from '../mark.js';
import { parsePlace } from '../place.js';
import type { MemoryInboxes } from './memory-inboxes.js';
import type { MemoryLeases } from './memory-leases.js';
import type { MemoryQueues } from './memory-queues.js';

interface KeptMark extends Mark {
  /** When it expires, in ms since 1970. */
  readonly until: number;
}

/** The kept results of names. Each method does the same as a request of a Redis server, equally atomically. */
export class MemoryMarks {
  private readonly marks = new Map<string, KeptMark>();

  constructor(
    private readonly now: () => number,
    private readonly locks: MemoryLeases,
    private readonly queues: MemoryQueues,
    private readonly inboxes: MemoryInboxes,
  ) {}

  read(name: string): Mark | undefined {
    const mark = this.get(name);
    return mark && { at: mark.at, token: mark.token, json: mark.json };
  }

  /** What a query shows of a mark. */
  times(name: string): DoneInfo | undefined {
    const mark = this.get(name);
    return mark && { at: new Date(mark.at), until: new Date(mark.until) };
  }

  keep({ name, owner, keep, token, json }: KeepRequest): boolean {
    const mark = this.get(name);
    if (mark) return mark.token === token;
    if (!this.locks.has(name, owner)) return false;
    const at = Math.floor(this.now());
    this.marks.set(name, { at, token, json, until: this.now() + Math.ceil(keep) });
    const waiting = [...this.queues.of(name).keys()].map((place) => parsePlace(place).instance);
    for (const instance of new Set(waiting)) this.inboxes.send(instance, (inbox) => inbox.done(name));
    return true;
  }

  delete(name: string): boolean {
    const isKept = this.get(name) !== undefined;
    this.marks.delete(name);
    return isKept;
  }

  clear(): void {
    this.marks.clear();
  }

  private get(name: string): KeptMark | undefined {
    const mark = this.marks.get(name);
    if (mark && mark.until > this.now()) return mark;
    this.marks.delete(name);
    return undefined;
  }
}
