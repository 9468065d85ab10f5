import { setTimeout as delay } from 'node:timers/promises';
import type { Lock, LockOptions, LockService } from 'nest-redis-lock';
import type { FencedAccount } from './fenced-account.js';
import { NAME } from './lock-name.js';
import { type Ended, type Notices, now } from './notices.interface.js';
import type { Topology } from './topology.js';

const PAUSE = 200;
/** Waits through every failover. The lease outlasts it as well. */
const OPTIONS: LockOptions = { ttl: 60_000, wait: 60_000, outageTimeout: 60_000 };

/** Takes the lock and writes under it, until it is stopSignal to end, loses the lock, or is refused by its token. */
export class LongWork {
  private end: (() => void) | undefined;
  private ended: Promise<Ended['why']> | undefined;

  constructor(
    private readonly topology: Topology,
    private readonly locks: LockService,
    private readonly account: FencedAccount,
    private readonly notices: Notices,
  ) {}

  /** Resolves when it has been granted, and has written once. */
  async start(): Promise<void> {
    const lock = await this.locks.acquire(NAME, OPTIONS);
    const { topology } = this;
    this.notices.granted({ topology, token: lock.fencingToken, at: now() });
    await this.account.write(topology, lock.fencingToken);
    const stop = new AbortController();
    this.end = () => stop.abort();
    this.ended = this.run(lock, stop.signal);
  }

  /** Resolves to why it has ended. */
  async finish(): Promise<Ended['why'] | undefined> {
    this.end?.();
    return this.ended;
  }

  /** Resolves when it ends by itself. */
  async untilEnded(): Promise<Ended['why'] | undefined> {
    return this.ended;
  }

  private async run(lock: Lock, stopSignal: AbortSignal): Promise<Ended['why']> {
    const { fencingToken: token } = lock;
    const why = await this.write(lock, stopSignal);
    this.notices.ended({ topology: this.topology, token, at: now(), why });
    // Where Redis has forgotten the hold, or cannot be reached, there is nothing to wait for.
    if (why === 'released') await lock.release();
    return why;
  }

  private async write({ signal, fencingToken }: Lock, stopSignal: AbortSignal): Promise<Ended['why']> {
    while (!stopSignal.aborted) {
      if (signal.aborted) return 'lost';
      if (!(await this.account.write(this.topology, fencingToken))) return 'fenced';
      await delay(PAUSE);
    }
    return 'released';
  }
}
