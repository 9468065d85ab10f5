import type { LockConfigError } from '../../errors/lock.error.js';
import type { Clock } from '../../primitives/clock.js';
import type {
  AcquireRequest,
  Extended,
  Extension,
  ForcedRelease,
  LockStore,
  StoreEvents,
  StoreNode,
  YieldRequest,
} from '../lock-store.js';
import type { LockSnapshot } from '../lock-snapshot.interface.js';
import { quorumForceReleaseScript } from '../scripts/quorum-force-release.script.js';
import { trialKey } from '../redis/trial/single-trial.js';
import { sendScript } from '../scripts/send.script.js';
import { isRefusal } from '../store-errors.js';
import { type Grant, isGrant, type Taken } from '../grant.js';
import { tokenOf } from '../owner-id.js';
import { forcedRelease, integer, only } from '../redis/connection/script-reply.js';
import { Ballots, type Bid } from './ballots.js';
import { Contest } from './contest.js';
import { type Ending, Endings } from './endings.js';
import { extendByMajority } from './extensions.js';
import { describeAnswer, isReservation, type NodeAnswer } from './node-answer.js';
import { Poll, type Vote } from './poll.js';
import { NodeViews } from './node-views.js';
import { type Proposal, Proposals } from './proposals.js';
import { QuorumKeys } from './quorum-keys.js';
import type { QuorumNode } from './quorum-node.js';
import { Revocations } from './revocations.js';
import { sleep } from '../../primitives/answer-within.js';
import { Waits } from './waits.js';

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
  private readonly quorum: Poll;
  private readonly keys: QuorumKeys;
  private readonly endings: Endings;
  private readonly proposals: Proposals;
  private readonly waits: Waits;
  private readonly ballots: Ballots;
  private readonly contest: Contest;
  private readonly views: NodeViews;
  private events: StoreEvents | undefined;

  constructor(private readonly settings: QuorumStoreSettings) {
    const { clock, instance, keyPrefix, nodes, nodeTimeout, random } = settings;
    this.quorum = new Poll(nodes, clock);
    this.keys = new QuorumKeys(instance, keyPrefix, nodeTimeout);
    this.endings = new Endings(this.quorum, this.keys, nodeTimeout);
    this.proposals = new Proposals(clock);
    this.waits = new Waits({
      clock,
      majority: this.quorum.majority,
      delay: nodeTimeout / 10,
      ask: (name) => this.events?.released(name),
    });
    const { endings, keys, proposals, quorum, waits } = this;
    this.ballots = new Ballots({ endings, keys, nodeTimeout, proposals, quorum, waits });
    const unreachable = this.unreachable.bind(this);
    const grant = this.granted.bind(this);
    const { ballots } = this;
    this.contest = new Contest({
      ballots,
      clock,
      endings,
      grant,
      nodeTimeout,
      proposals,
      random,
      unreachable,
      waits,
    });
    this.views = new NodeViews(quorum, keys, nodeTimeout);
  }

  connect(): void {
    for (const node of this.quorum.nodes) node.connect();
  }

  open(events: StoreEvents): void {
    this.events = events;
    const revocations = new Revocations(this.quorum.majority);
    const faults = new Map<QuorumNode, LockConfigError | undefined>();
    this.quorum.nodes.forEach((node, index) => {
      node.open({
        released: (name, last) => {
          // Without a waiter here, the node's reservation passes to the next instance.
          if (!this.waits.handleRelease(index, name, last)) this.endings.passOn(node, name);
        },
        revoked: (name, owner) => {
          if (revocations.record(index, owner)) events.revoked(name, owner);
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
  canQueue(): boolean {
    return this.proposals.now > 0 && this.quorum.nodes.some(({ listening }) => listening);
  }

  doubt(): void {
    for (const node of this.quorum.nodes) node.doubt?.();
  }

  get trouble(): Error {
    const { quorum } = this;
    return quorum.noMajority(
      quorum.nodes.map(({ label, trouble }) => new Error(`${label}: ${trouble.message}`)),
    );
  }

  /** The place is equal on all nodes, whenever each of them receives it. */
  place(): string {
    return `${this.settings.instance}|${this.proposals.now || Date.now() * 1_000}`;
  }

  acquire(request: AcquireRequest): Promise<Grant | Taken> {
    return this.contend(request);
  }

  /**
   * Releases the lock, and requests it again right behind, in the same packet to each node. An instance that waits at a
   * majority is then the next holder.
   */
  yield({ owner, ...request }: YieldRequest): Promise<Grant | Taken> {
    this.endings.behind(endOf(request.name, owner));
    return this.contend(request, tokenOf(owner));
  }

  release(name: string, owner: string): Promise<boolean> {
    return this.endings.everywhere(endOf(name, owner));
  }

  vacate(name: string, owner: string): Promise<boolean> {
    return this.endings.everywhere({ ...endOf(name, owner), mode: 'quiet' });
  }

  leaveGap(name: string, owner: string): Promise<boolean> {
    return this.vacate(name, owner);
  }

  async extend(batch: readonly Extension[]): Promise<readonly Extended[]> {
    const extended = await extendByMajority(this.quorum, this.keys, this.settings.nodeTimeout, batch);
    // A lost hold is never released, and nodes that have renewed it would keep it for a whole lease.
    batch.forEach(({ name, owner }, i) => extended[i] === 0 && this.endings.behind(endOf(name, owner)));
    return extended;
  }

  /** Leaves the queues; the same request ends a grant that was on its way. */
  async cancel(name: string): Promise<undefined> {
    const token = this.waits.highestOf(name);
    this.waits.end(name);
    await this.endings.everywhere({ name, token, mode: 'wake', place: 'leave' });
  }

  nodes(timeout: number): Promise<readonly StoreNode[]> {
    return this.views.health(timeout);
  }

  query(name: string): Promise<LockSnapshot> {
    return this.views.query(name);
  }

  list(beginning: string): AsyncIterable<readonly LockSnapshot[]> {
    return this.views.list(beginning);
  }

  /** A silent node may have run the request and completed a majority. */
  async forceRelease(name: string, owners?: readonly string[]): Promise<ForcedRelease> {
    const { claimTtl, revocations: channels } = this.keys;
    const args = [channels, claimTtl, name, ...only(owners)];
    const answers = await this.quorum.askAll(this.settings.nodeTimeout, async (node) =>
      forcedRelease(await node.run('take', quorumForceReleaseScript, this.keys.of(name), args)),
    );
    const enough = this.quorum.majority - this.quorum.nodes.length + answers.length;
    const atMajority = (all: readonly string[]): string[] =>
      [...new Set(all)].filter((owner) => all.filter((each) => each === owner).length >= enough);
    return {
      released: atMajority(answers.flatMap(({ released }) => released)),
      holders: atMajority(answers.flatMap(({ holders }) => holders)).filter((owner) => !isReservation(owner)),
    };
  }

  /** Sends the message through the first node at which the instance listens. */
  async send(instance: string, message: string): Promise<boolean> {
    const channel = this.keys.revocations + instance;
    for (const node of this.quorum.nodes) {
      const sent = node.run('take', sendScript, [trialKey(this.keys)], [channel, message]);
      const heard = await this.quorum.answerOf(sent, this.settings.nodeTimeout).catch(() => 0);
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

  /** Requests a name, with tokens beyond `last`. */
  private async contend(bid: Bid, last = 0): Promise<Grant | Taken> {
    const { name, place } = bid;
    if (place !== undefined) this.waits.begin(name);
    const reply = await this.contest.run(bid, Math.max(last, this.waits.lastOf(name)));
    // An attempt without a place needs no leave.
    if (place === undefined && !isGrant(reply)) this.waits.endAttempt(name);
    return reply;
  }

  private granted(name: string, { first, last }: Proposal): Grant {
    this.waits.end(name);
    return { owner: `${this.settings.instance}:${first}`, token: first, tokens: last - first + 1 };
  }

  private unreachable(name: string, votes: readonly Vote<NodeAnswer>[]): Error {
    const error = this.quorum.noMajority(votes, describeAnswer);
    // After a refusal, the engine does not cancel.
    if (isRefusal(error)) this.waits.end(name);
    return error;
  }
}

/** The ending of a hold on a node. */
function endOf(name: string, owner: string): Ending {
  return { name, token: tokenOf(owner), mode: 'wake', place: '' };
}
