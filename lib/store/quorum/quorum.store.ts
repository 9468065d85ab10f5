import type { LockConfigError } from '../../errors/lock.error.js';
import { sleep } from '../../primitives/answer-within.js';
import type { Clock } from '../../primitives/clock.js';
import type { Grant, Taken } from '../grant.js';
import type {
  AcquireRequest,
  Extended,
  Extension,
  Gap,
  LockStore,
  StoreEvents,
  Waking,
  YieldRequest,
} from '../lock-store.js';
import { tokenOf } from '../owner-id.js';
import { integer } from '../redis/connection/script-reply.js';
import { extendLeases } from '../redis/extend-leases.js';
import { commandScript } from '../scripts/command.script.js';
import { Contest } from './contest.js';
import { type Ending, Endings } from './endings.js';
import { isAnswer, Poll } from './poll.js';
import { Proposals } from './proposals.js';
import { QuorumOperations } from './quorum-operations.js';
import { QuorumKeys, type QuorumNode } from './quorum-node.js';
import { Notices, Waits } from './waits.js';

export interface QuorumStoreSettings {
  readonly nodes: readonly QuorumNode[];
  readonly keyPrefix: string;
  /** Name of this instance, `<host>-<pid>-<random>`; part of owner ids and of its channel. */
  readonly instance: string;
  /** Milliseconds for one node's reply. */
  readonly nodeTimeout: number;
  readonly clock: Clock;
  /** Random number from 0 to below 1; spreads the retries of contenders. */
  readonly random: () => number;
}

/**
 * Locks on a majority of independent Redis servers, after Redlock
 * (https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/). The nodes vote on fencing tokens and
 * notify waiters of a release.
 */
export class QuorumStore implements LockStore {
  readonly operations: QuorumOperations;
  private readonly quorum: Poll;
  private readonly keys: QuorumKeys;
  private readonly endings: Endings;
  private readonly proposals: Proposals;
  private readonly waits: Waits;
  private readonly contest: Contest;
  private events: StoreEvents | undefined;

  constructor(private readonly settings: QuorumStoreSettings) {
    const { clock, instance, keyPrefix, nodes, nodeTimeout, random } = settings;
    const quorum = (this.quorum = new Poll(nodes, clock, nodeTimeout));
    const keys = (this.keys = new QuorumKeys(instance, keyPrefix, nodeTimeout));
    const endings = (this.endings = new Endings(quorum, keys));
    const proposals = (this.proposals = new Proposals(clock, nodeTimeout));
    const waits = (this.waits = new Waits({
      clock,
      majority: quorum.majority,
      delay: nodeTimeout / 10,
      ask: (name) => this.events?.released(name),
    }));
    this.contest = new Contest({ clock, endings, keys, proposals, quorum, random, waits });
    this.operations = new QuorumOperations(quorum, keys, endings);
  }

  connect(): void {
    for (const node of this.quorum.nodes) node.connect();
  }

  open(events: StoreEvents): void {
    this.events = events;
    // One node is not enough: the request may have reached it late, after a majority granted the lock again.
    const revocations = new Notices(this.quorum.majority);
    const faults = new Map<QuorumNode, LockConfigError | undefined>();
    this.quorum.nodes.forEach((node, index) => {
      node.open({
        ...UNUSED,
        released: (name) => {
          // Without a waiter here, the node's reservation passes to the next instance.
          if (!this.waits.handleRelease(index, name)) this.endings.cancel(node, name);
        },
        revoked: (name, owner) => {
          if (revocations.record(owner, index)) events.revoked(name, owner);
        },
        told: (message) => events.told(message),
        subscribed: () => events.subscribed(),
        reconnected: () => events.reconnected(),
        unusable: (reason) => {
          faults.set(node, reason);
          events.unusable([...faults.values()].find(Boolean));
        },
      });
    });
  }

  /** Places contain a time of the nodes' clocks, which is known after the first replies. */
  wakesBy(): Waking | undefined {
    const isHeard = this.proposals.now > 0 && this.quorum.nodes.some(({ listening }) => listening);
    return isHeard ? 'message' : undefined;
  }

  doubt(): void {
    for (const node of this.quorum.nodes) node.doubt?.();
  }

  get trouble(): Error {
    const { quorum } = this;
    return quorum.noMajority(
      quorum.nodes.map(({ where, trouble }) => new Error(`${where}: ${trouble.message}`)),
    );
  }

  /** The place is equal on all nodes, whenever each of them receives it. */
  place(): string {
    return `${this.settings.instance}|${this.proposals.now || Date.now() * 1_000}`;
  }

  acquire(request: AcquireRequest): Promise<Grant | Taken> {
    return this.contest.run(request);
  }

  /**
   * Releases the lock, and requests it again right behind, in the same packet to each node. An instance that waits at a
   * majority is then the next holder.
   */
  yield({ owner, ...request }: YieldRequest): Promise<Grant | Taken> {
    void this.endings.behind(endOf(request.name, owner));
    return this.contest.run(request);
  }

  release(name: string, owner: string, _isAwaited?: boolean, gap?: Gap): Promise<boolean> {
    return this.endings.everywhere({ ...endOf(name, owner), mode: gap ? 'quiet' : 'wake' });
  }

  /** Renews leases on all nodes; resolves as soon as each extension is decided. */
  async extend(batch: readonly Extension[]): Promise<readonly Extended[]> {
    const { keys, quorum } = this;
    const extended = await quorum.ask<Extended[], Extended[]>(
      (node) => extendLeases(batch, keys.at(node)),
      (votes, open) => {
        const results = batch.map((_, i) => {
          const isRenewed = quorum.tally(votes, (replies) => {
            const said = replies[i];
            return said === undefined ? undefined : said > 0;
          });
          // If a lease lasts longer than requested on a single node, it may block later proposals there.
          const longest = Math.max(1, ...votes.filter(isAnswer).map((replies) => replies[i] ?? 0));
          return isRenewed === undefined ? undefined : Number(isRenewed) * longest;
        });
        if (open > 0 && results.includes(undefined)) return undefined;
        if (results.every((result) => result === undefined)) throw quorum.noMajority(votes);
        return results;
      },
    );
    // A lost hold is never released, and nodes that have renewed it would keep it for a whole lease.
    for (const [i, { name, owner }] of batch.entries())
      if (extended[i] === 0) void this.endings.behind(endOf(name, owner));
    return extended;
  }

  /** Leaves the queues; the same request ends a grant that was on its way. */
  async cancel(name: string): Promise<readonly string[]> {
    const token = this.waits.end(name);
    await this.endings.everywhere({ name, token, mode: 'wake', place: 'cancel' });
    return [];
  }

  /** Sends the message through the first node at which the instance listens. */
  async send(instance: string, message: string): Promise<boolean> {
    for (const node of this.quorum.nodes) {
      const sent = node.run('take', commandScript, ...this.keys.messageTo(instance, message));
      const heard = await this.quorum.answerOf(sent).catch(() => 0);
      if (integer(heard) > 0) return true;
    }
    return false;
  }

  /** Releases are on their way by then, or their leases will expire. */
  async close(): Promise<void> {
    const { clock, nodeTimeout } = this.settings;
    await Promise.race([this.endings.settled(), sleep(clock, nodeTimeout)]);
    for (const node of this.quorum.nodes) node.close();
  }
}

/** Messages that no script of a quorum sends: a grant takes a majority. */
const UNUSED = {
  granted: () => undefined,
  gap: () => undefined,
  askedIfWaiting: () => undefined,
  isInUse: () => true,
  done: () => undefined,
};

function endOf(name: string, owner: string): Ending {
  return { name, token: tokenOf(owner), mode: 'wake', place: '' };
}
