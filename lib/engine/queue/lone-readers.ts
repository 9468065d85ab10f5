import { Hold } from '../hold/hold.js';
import type { Lease } from '../hold/lease.js';
import { Sharing, type SharingQueue } from './sharing.js';
import type { QueueContext } from './queue-context.js';
import type { Waiter } from './waiter.js';

/**
 * Readers to whom the lease of the lock alone is passed on in memory, one after the other, as to writers: of those that are done
 * at once the store never hears. As soon as one stays for longer than a tick, others may read beside it: see {@link Sharing}.
 */
export class LoneReaders {
  isRefused = false;
  private isWatching = false;

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

  /** A reader has begun to use the lease. */
  watch(): void {
    if (this.isWatching) return;
    this.isWatching = true;
    this.context.clock.afterInput(() => {
      this.isWatching = false;
      const { alone } = this.queue.leases;
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
    lease.sharing.ask();
  }
}
