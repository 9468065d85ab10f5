import type { Lock } from '../../../lib/index.js';
import type { HoldRecord } from './hold-record.js';
import type { Wanted } from '../../support/may-hold-together.js';
import { now } from './shared-clock.js';

const INTERVAL = 4;

interface Observed {
  readonly lock: Lock;
  readonly record: HoldRecord;
}

/** Looks at every hold of this process at short intervals, whatever its work does. */
export class HoldObserver {
  readonly records: HoldRecord[] = [];
  private readonly running = new Set<Observed>();

  constructor() {
    setInterval(() => {
      for (const observed of this.running) look(observed);
    }, INTERVAL).unref();
  }

  /** A hold begins. Call what it returns when its work ends. */
  begin(
    id: string,
    lock: Lock,
    askedAt: number,
    wanted: Wanted = {},
  ): { readonly record: HoldRecord; end(): void } {
    const record: HoldRecord = {
      id,
      name: lock.keys.join(),
      token: lock.fencingToken,
      ...wanted,
      askedAt,
      begin: now(),
      heldUntil: undefined,
      lostSeenAt: undefined,
      unabortedAt: [],
      abortedAt: undefined,
      refusedAt: undefined,
      end: undefined,
      outcome: undefined,
    };
    this.records.push(record);
    const observed = { lock, record };
    lock.signal.addEventListener('abort', () => (record.abortedAt = now()), { once: true });
    look(observed);
    this.running.add(observed);
    return {
      record,
      end: () => {
        look(observed);
        this.running.delete(observed);
        record.end = now();
      },
    };
  }
}

function look({ lock, record }: Observed): void {
  // The time first: a process that is stopped between the two must not seem to have held for longer.
  const seenAt = now();
  if (lock.held) {
    record.heldUntil = seenAt;
    return;
  }
  record.lostSeenAt ??= seenAt;
  if (!lock.signal.aborted) record.unabortedAt.push(seenAt);
}
