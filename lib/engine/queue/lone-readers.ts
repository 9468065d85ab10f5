import { Hold } from '../hold/hold.js';
import type { Lease } from '../hold/lease.js';
import { Sharing, type SharingQueue } from './sharing.js';
import type { QueueContext } from './queue-context.js';
import type { Waiter } from './waiter.js';

/** Milliseconds for which it counts how holds went when what is asked for next goes by that. */
export const LATELY = 100;

/**
 * Readers to whom the lease of the lock alone is passed on in memory, one after the other, as to writers: of those that are done
 * at once the store never hears. As soon as one stays for longer than a tick, others may read beside it: see {@link Sharing}.
 *
 * Where most of them lately stayed, the next ones are asked for in the store at once: there they wait behind the writers of other
 * instances, and read beside those of other instances when these are done.
 */
export class LoneReaders {
  isRefused = false;
  /** Readers that have begun since it was looked last who stays. */
  private begun = 0;
  private stayedAt = -Infinity;

  constructor(
    private readonly context: QueueContext,
    private readonly queue: SharingQueue,
  ) {}

  /** Whether a caller may use the lease of the lock alone, since it can be turned into one that it shares. */
  mayServe({ options: { mode, limit, minHold, replicas } }: Waiter): boolean {
    const isReader = mode === 'shared' && limit === Infinity;
    return (
      isReader && minHold === 0 && !replicas && !this.isRefused && this.context.store.share !== undefined
    );
  }

  /** Whether most readers lately stayed for longer than a tick. */
  mostStay(now: number): boolean {
    return now - this.stayedAt < LATELY;
  }

  /** A reader has begun, with a lease of its own or with that of the lock alone. */
  watch(): void {
    if (this.begun++ > 0) return;
    this.context.clock.afterInput(() => {
      const { alone, holders } = this.queue.leases;
      const inside = holders.filter(({ mode }) => mode === 'shared').length;
      this.stayedAt = inside * 2 > this.begun ? this.context.clock.now() : -Infinity;
      this.begun = 0;
      if (!alone) return;
      this.share(alone);
      // Those who came while others might have been let in.
      if (!alone.sharing) this.queue.rejectAttempts();
    });
  }

  /** Lets others read beside the reader that uses a lease of the lock alone. */
  share(lease: Lease): void {
    const { hold } = lease;
    if (lease !== this.queue.leases.alone || !(hold instanceof Hold) || hold.mode === 'exclusive') return;
    lease.sharing ??= new Sharing(lease, hold, this.context, this.queue, this);
    void lease.sharing.ask();
  }
}
