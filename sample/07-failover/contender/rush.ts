import { setTimeout as delay } from 'node:timers/promises';
import { isLockError, type LockOptions, type LockService } from 'nest-redis-lock';
import type { FencedAccount } from './fenced-account.js';
import { NAME } from './lock-name.js';
import { type Notices, now } from './notices.interface.js';
import type { Topology } from './topology.js';

const WORK = 10;
const PAUSE = 20;
/** Quick to refuse, so that an outage is seen as one. */
const OPTIONS: LockOptions = { ttl: 2_000, outageTimeout: 300 };

/** Takes the lock for a moment, again and again. */
export class Rush {
  constructor(
    private readonly topology: Topology,
    private readonly locks: LockService,
    private readonly account: FencedAccount,
    private readonly notices: Notices,
  ) {}

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.once();
    }
  }

  private async once(): Promise<void> {
    try {
      const { topology } = this;
      await this.locks.using(NAME, OPTIONS, async (lock) => {
        const { fencingToken: token } = lock;
        this.notices.granted({ topology, token, at: now() });
        await delay(WORK);
        const accepted = lock.held && (await this.account.write(topology, token));
        this.notices.ended({ topology, token, at: now(), why: accepted ? 'released' : 'fenced' });
      });
    } catch (error) {
      if (!isLockError(error)) throw error;
      this.notices.refused({ topology: this.topology, code: error.code, at: now() });
      await delay(PAUSE);
    }
  }
}
