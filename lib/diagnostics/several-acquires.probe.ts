import { ObservedAcquire, type ObservedOptions } from './acquire.probe.js';
import type { ObservedHold } from './hold.probe.js';

/**
 * A call that wants several names, as it is told to subscribers: of each name its start and one end, which is the end of
 * the whole call. That a name was had for a while and given back is nobody's hold, and is not told.
 */
export class SeveralAcquires {
  private readonly acquires = new Map<string, ObservedAcquire>();

  constructor(private readonly options: ObservedOptions) {}

  /** Begins for a name, where it has not yet. */
  start(name: string): void {
    if (!this.acquires.has(name)) this.acquires.set(name, ObservedAcquire.start(name, this.options));
  }

  granted(name: string, hold: ObservedHold): void {
    this.acquires.get(name)?.granted(hold);
  }

  refused(error: unknown): void {
    for (const acquire of this.acquires.values()) acquire.refused(error);
  }
}
