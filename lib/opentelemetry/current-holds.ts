import type { Attributes } from '@opentelemetry/api';
import type { LockAcquire } from '../diagnostics/lock-events.interface.js';

/** Holds with equal attributes. */
interface HoldGroup {
  readonly attributes: Attributes;
  /** When each was granted, by `performance.now()`, the oldest first. */
  readonly since: Map<LockAcquire, number>;
}

/** The holds of this process that have not ended, grouped by their attributes. */
export class CurrentHolds {
  private readonly groupOf = new Map<LockAcquire, HoldGroup>();
  /** Groups stay without holds: the OpenTelemetry SDK repeats the last value of a group that is not observed. */
  private readonly byAttributes = new Map<string, HoldGroup>();

  add(acquire: LockAcquire, attributes: Attributes): void {
    const key = JSON.stringify(attributes);
    const group = this.byAttributes.get(key) ?? { attributes, since: new Map<LockAcquire, number>() };
    this.byAttributes.set(key, group);
    this.groupOf.set(acquire, group);
    group.since.set(acquire, performance.now());
  }

  delete(acquire: LockAcquire): void {
    this.groupOf.get(acquire)?.since.delete(acquire);
    this.groupOf.delete(acquire);
  }

  clear(): void {
    for (const acquire of [...this.groupOf.keys()]) this.delete(acquire);
  }

  /** The number of holds of each group, and the age of the oldest in milliseconds. */
  *groups(): Iterable<{ attributes: Attributes; count: number; age: number }> {
    const now = performance.now();
    for (const { attributes, since } of this.byAttributes.values()) {
      const [oldest = now] = since.values();
      yield { attributes, count: since.size, age: now - oldest };
    }
  }
}
