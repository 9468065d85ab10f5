import type { Clock } from '../../engine/clock.js';
import type { LockSnapshot } from '../../interfaces/lock.interface.js';
import { extendScript } from '../../scripts/extend.script.js';
import { queryScript } from '../../scripts/query.script.js';
import { quorumForceReleaseScript } from '../../scripts/quorum-force-release.script.js';
import {
  type AcquireRequest,
  type Extension,
  type Grant,
  isRefusal,
  type LockStore,
  type StoreEvents,
  type StoreNode,
  type Taken,
  type YieldRequest,
} from '../lock-store.js';
import { tokenOf } from '../owner-id.js';
import { type QueryReply, snapshot } from '../redis/query-reply.js';
import { Ballots } from './ballots.js';
import { type Ending, Endings } from './endings.js';
import { describeAnswer, type Int, isTaken, type NodeAnswer } from './node-answer.js';
import { Poll, type Vote } from './poll.js';
import { type Proposal, Proposals } from './proposals.js';
import { QuorumKeys } from './quorum-keys.js';
import type { QuorumNode } from './quorum-node.js';
import { mergeSnapshots } from './quorum-snapshot.js';
import { Revocations } from './revocations.js';
import { Waits } from './waits.js';

/** How often one acquire proposes again: after a split vote, or because its token was outdated. */
const MAX_ROUNDS = 6;

export interface QuorumStoreSettings {
  readonly nodes: readonly QuorumNode[];
  readonly keyPrefix: string;
  /** Name of this instance, `<host>-<pid>-<random>`; goes into owner ids and its channel. */
  readonly instance: string;
  /** Milliseconds that one node has for its answer. */
  readonly nodeTimeout: number;
  readonly clock: Clock;
  /** From 0 to below 1; spreads contenders that got in each other's way. */
  readonly random: () => number;
}

/**
 * Locks on a majority of independent Redis servers, after Redlock
 * (https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/), with fencing tokens that the nodes
 * vote on and waiters that are told of a release.
 */
export class QuorumStore implements LockStore {
  private readonly quorum: Poll;
  private readonly keys: QuorumKeys;
  private readonly endings: Endings;
  private readonly proposals: Proposals;
  private readonly waits: Waits;
  private readonly ballots: Ballots;
  /** The last token of each hold that has more than one. */
  private readonly blocks = new Map<string, number>();
  private events: StoreEvents | undefined;

  constructor(private readonly settings: QuorumStoreSettings) {
    const { clock, instance, keyPrefix, nodes, nodeTimeout } = settings;
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
    this.ballots = new Ballots({ clock, endings, keys, nodeTimeout, proposals, quorum, waits });
  }

  open(events: StoreEvents): void {
    this.events = events;
    const revocations = new Revocations(this.quorum.majority);
    this.quorum.nodes.forEach((node, index) => {
      node.open({
        released: (name, last) => {
          // Where nobody waits any more, what the node has reserved goes to the next.
          if (!this.waits.hear(index, name, last)) this.endings.passOn(node, name);
        },
        revoked: (name, owner) => {
          if (revocations.hear(index, owner)) events.revoked(name, owner);
        },
        subscribed: () => events.subscribed(),
        reconnected: () => events.reconnected(),
      });
    });
  }

  canQueue(): boolean {
    return this.quorum.nodes.some(({ listening }) => listening);
  }

  get trouble(): Error {
    const { quorum } = this;
    return quorum.noMajority(
      quorum.nodes.map(({ label, trouble }) => new Error(`${label}: ${trouble.message}`)),
    );
  }

  /** The same on all nodes, whenever each of them is told. */
  place(): string {
    return `${this.settings.instance}|${this.proposals.now || Date.now() * 1_000}`;
  }

  acquire(request: AcquireRequest): Promise<Grant | Taken> {
    if (request.place !== undefined) this.waits.begin(request.name);
    return this.contend(request, this.waits.lastOf(request.name));
  }

  async yield(request: YieldRequest): Promise<Grant | Taken | undefined> {
    const { name, owner, tokens, place } = request;
    if (place !== undefined) this.waits.begin(name);
    const last = this.blocks.get(owner) ?? tokenOf(owner);
    this.blocks.delete(owner);
    const proposal = this.proposals.next(last, tokens);
    const { verdict, votes } = await this.ballots.yield(request, proposal);
    if (verdict.kind === 'granted') return this.granted(name, proposal);
    if (verdict.kind === 'outdated') return this.contend(request, verdict.last);
    if (verdict.kind === 'unreachable') throw this.unreachable(name, votes);
    const handed = verdict.kind === 'taken';
    // Where it was lost the engine asks anew, if anybody here still waits.
    const ending: Ending = {
      name,
      token: proposal.last,
      mode: 'wake',
      place: handed ? (place ?? '') : 'leave',
    };
    this.endWhereNotTaken(votes, ending);
    if (handed) return this.taken(verdict);
    this.waits.end(name);
    return undefined;
  }

  release(name: string, owner: string): Promise<boolean> {
    this.blocks.delete(owner);
    return this.endings.everywhere({ name, token: tokenOf(owner), mode: 'wake', place: '' });
  }

  /** Resolves as soon as each extension is decided. */
  async extend(batch: readonly Extension[]): Promise<readonly (boolean | undefined)[]> {
    const keys = batch.map(({ name }) => this.keys.lock(name));
    const args = batch.flatMap(({ owner, ttl, exact }) => [owner, `${exact ? '=' : ''}${Math.ceil(ttl)}`]);
    const renewed = await this.quorum.ask<Int[], (boolean | undefined)[]>({
      timeout: this.settings.nodeTimeout,
      ask: (node) => node.run<Int[]>('take', extendScript, keys, args),
      decide: (votes, open) => {
        const results = batch.map((_, i) => this.quorum.tally(votes, (reply) => Number(reply[i]) === 1));
        if (open > 0 && results.includes(undefined)) return undefined;
        if (results.every((result) => result === undefined)) throw this.quorum.noMajority(votes);
        return results;
      },
    });
    // Nobody releases what is lost, and the nodes that have renewed it would keep it for a whole lease.
    batch.forEach(({ name, owner }, i) => renewed[i] === false && this.abandon(name, owner));
    return renewed;
  }

  /** What was granted meanwhile is given back by the same request. */
  async cancel(name: string): Promise<undefined> {
    this.waits.end(name);
    const token = this.proposals.highestSoFar;
    await this.endings.everywhere({ name, token, mode: 'wake', place: 'leave' });
  }

  /** Each node's own answer, within the time that it has for any. */
  nodes(timeout: number): Promise<readonly StoreNode[]> {
    const { nodes } = this.quorum;
    const [lock, queue] = this.keys.of('health');
    return this.quorum.ask<QueryReply, StoreNode[]>({
      timeout: Math.min(timeout, this.settings.nodeTimeout),
      ask: (node) => node.run<QueryReply>('take', queryScript, [lock, queue], []),
      decide: (votes, open) => {
        if (open > 0) return undefined;
        return nodes.map(({ label: name }, i) => {
          const vote = votes[i];
          return { name, trouble: vote instanceof Error ? vote.message : undefined };
        });
      },
    });
  }

  async query(name: string): Promise<LockSnapshot> {
    const [lock, queue] = this.keys.of(name);
    const snapshots = await this.quorum.askAll(this.settings.nodeTimeout, async (node) =>
      snapshot(name, await node.run<QueryReply>('take', queryScript, [lock, queue], [])),
    );
    return mergeSnapshots(snapshots, this.quorum.nodes.length);
  }

  async forceRelease(name: string): Promise<boolean> {
    const { channels, claim } = this.keys;
    const answers = await this.quorum.askAll(this.settings.nodeTimeout, async (node) => ({
      owner: await node.run<string | null>('take', quorumForceReleaseScript, this.keys.of(name), [
        channels,
        claim,
        name,
      ]),
    }));
    const owners = answers.map(({ owner }) => owner).filter((owner) => owner !== null);
    const silent = this.quorum.nodes.length - answers.length;
    return owners.some(
      (owner) => owners.filter((each) => each === owner).length + silent >= this.quorum.majority,
    );
  }

  /** What was given back is on its way by then, or left to its lease. */
  async close(): Promise<void> {
    await Promise.race([this.endings.settled(), this.sleep(this.settings.nodeTimeout)]);
    for (const node of this.quorum.nodes) node.close();
  }

  /** Proposes tokens beyond `last` until the lock is granted, or surely somebody else's. */
  private async contend(request: Omit<AcquireRequest, 'spent'>, last: number): Promise<Grant | Taken> {
    const { name, place = '' } = request;
    let accepted = last;
    for (let round = 1; ; round++) {
      const startedAt = this.clock.now();
      const proposal = this.proposals.next(accepted, request.tokens);
      const { verdict, votes } = await this.ballots.acquire(request, proposal);
      if (verdict.kind === 'granted') return this.granted(name, proposal);
      if (verdict.kind === 'outdated' && round < MAX_ROUNDS) {
        accepted = verdict.last;
        continue;
      }
      // Also where no answer came: the request may be on its way, and nobody would end what it takes.
      this.endWhereNotTaken(votes, { name, token: proposal.last, mode: 'quiet', place });
      if (verdict.kind === 'unreachable') throw this.unreachable(name, votes);
      if (verdict.kind === 'taken') return this.taken(verdict);
      const delay = this.retryDelay(this.clock.now() - startedAt, round);
      const owner = verdict.kind === 'split' ? verdict.owner : '';
      if (round >= MAX_ROUNDS) return this.taken({ owner, remaining: delay });
      await this.sleep(delay);
    }
  }

  private granted(name: string, { first, last }: Proposal): Grant {
    this.waits.end(name);
    const owner = `${this.settings.instance}:${first}`;
    if (last > first) this.blocks.set(owner, last);
    return { owner, token: first, tokens: last - first + 1 };
  }

  private taken({ owner, remaining }: { owner: string; remaining: number | undefined }): Taken {
    return { owner, remaining, mark: this.proposals.highestSoFar };
  }

  private abandon(name: string, owner: string): void {
    this.blocks.delete(owner);
    const ending: Ending = { name, token: tokenOf(owner), mode: 'wake', place: '' };
    for (const node of this.quorum.nodes) this.endings.inBackground(node, ending);
  }

  private endWhereNotTaken(votes: readonly Vote<NodeAnswer>[], ending: Ending): void {
    this.quorum.nodes.forEach((node, i) => {
      if (!isTaken(votes[i])) this.endings.inBackground(node, ending);
    });
  }

  private unreachable(name: string, votes: readonly Vote<NodeAnswer>[]): Error {
    const error = this.quorum.noMajority(votes, describeAnswer);
    // Then the engine gives up without a cancel.
    if (isRefusal(error)) this.waits.end(name);
    return error;
  }

  /** Of the order of a trip, doubled with each round, so that one of several contenders gets ahead of the others. */
  private retryDelay(trip: number, round: number): number {
    const spread = Math.min(Math.max(trip, 1) * 2 ** round, this.settings.nodeTimeout);
    return spread * this.settings.random();
  }

  private sleep(delay: number): Promise<void> {
    return new Promise((resolve) => void this.clock.schedule(resolve, delay));
  }

  private get clock(): Clock {
    return this.settings.clock;
  }
}
