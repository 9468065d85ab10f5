import { isLockError, type LockService } from 'nest-redis-lock';
import type { FencedAccount } from './fenced-account.js';
import { NAME } from './lock-name.js';
import { LongWork } from './long-work.js';
import type { Ended, Notices } from './notices.interface.js';
import type { Reconnection } from './reconnection.js';
import { Rush } from './rush.js';
import { type PerTopology, TOPOLOGIES, type Topology } from './topology.js';

/** What a {@link Contender} is made of. */
export interface ContenderParts {
  readonly locks: PerTopology<LockService>;
  readonly account: FencedAccount;
  readonly notices: Notices;
  readonly reconnection: Reconnection;
}

/** One process that wants the locks. */
export class Contender {
  private readonly works = new Map<Topology, LongWork>();
  private rushes: readonly Promise<void>[] = [];
  private rush = new AbortController();

  constructor(private readonly parts: ContenderParts) {}

  /** Resolves when both locks can be had. */
  async ready(): Promise<void> {
    const { locks } = this.parts;
    await Promise.all(TOPOLOGIES.map((topology) => locks[topology].using(`${NAME}:ready`, () => {})));
  }

  /** Begins to take both locks again and again. */
  async startRush(): Promise<void> {
    const { locks, account, notices } = this.parts;
    this.rush = new AbortController();
    this.rushes = TOPOLOGIES.map((topology) =>
      new Rush(topology, locks[topology], account, notices).run(this.rush.signal),
    );
  }

  async endRush(): Promise<void> {
    this.rush.abort();
    await Promise.all(this.rushes);
  }

  /** Lets it not come back to Sentinel's master once it has lost it, and so not hear what that has forgotten. */
  async cut(): Promise<void> {
    this.parts.reconnection.cut();
  }

  /** Takes the lock and keeps it. Resolves when it is granted. */
  async startWork(topology: Topology): Promise<void> {
    const { locks, account, notices } = this.parts;
    const work = new LongWork(topology, locks[topology], account, notices);
    this.works.set(topology, work);
    await work.start();
  }

  async endWork(topology: Topology): Promise<Ended['why'] | undefined> {
    return this.works.get(topology)?.finish();
  }

  async untilWorkEnds(topology: Topology): Promise<Ended['why'] | undefined> {
    return this.works.get(topology)?.untilEnded();
  }

  /** Asks for another lock that counts only when a replica knows of it. Resolves to how that went. */
  async tryWithReplica(): Promise<string> {
    try {
      await using lock = await this.parts.locks.sentinel.acquire(`${NAME}:with-replica`, {
        replicas: { min: 1, timeout: 200 },
      });
      return lock.held ? 'granted' : 'lost';
    } catch (error) {
      if (isLockError(error)) return error.code;
      throw error;
    }
  }
}
