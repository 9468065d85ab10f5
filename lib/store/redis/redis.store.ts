import type {
  AcquireRequest,
  Extended,
  Extension,
  Gap,
  LockStore,
  OwnerChange,
  ShareRequest,
  StoreEvents,
  Transferred,
  Waiting,
  Waking,
  YieldRequest,
} from '../lock-store.js';
import { isClusterConnection } from '../../options/connection/cluster-option.js';
import { cancelScript } from '../scripts/cancel.script.js';
import { commandScript } from '../scripts/command.script.js';
import { StoreRefusal, TooFewReplicas } from '../store-errors.js';
import {
  type Grant,
  grantsIn,
  type ReplicaDemand,
  type SharedTerms,
  type Shares,
  type Taken,
} from '../grant.js';
import { digitsIn, sharedTag } from '../owner-id.js';
import { formatPlace } from '../place.js';
import { ClusterTopology } from './cluster/cluster.topology.js';
import { integer, list, text } from './connection/script-reply.js';
import { EndpointTopology } from './endpoint.topology.js';
import { extendLeases } from './extend-leases.js';
import { LockRequests } from './lock-requests.js';
import { MarkRequests } from './mark-requests.js';
import { Outbox } from './outbox.js';
import { RedisOperations } from './redis-operations.js';
import type { Topology, RedisStoreSettings } from './topology.js';
import { transferLocks } from './transfer-locks.js';

/** Locks on one Redis or on a Redis Cluster. */
export class RedisStore implements LockStore {
  readonly maxBatch: number | undefined;
  readonly marks: MarkRequests;
  readonly operations: RedisOperations;
  readonly announcesGaps = true;
  readonly send: ((instance: string, message: string) => Promise<boolean>) | undefined;
  private readonly topology: Topology;
  private readonly outbox: Outbox;
  private readonly requests: LockRequests;

  constructor(private readonly settings: RedisStoreSettings) {
    const { connection } = settings;
    this.topology = isClusterConnection(connection)
      ? new ClusterTopology(connection, settings)
      : new EndpointTopology(connection, settings);
    this.maxBatch = this.topology.maxBatch;
    this.outbox = new Outbox(this.topology, settings);
    this.requests = new LockRequests(this.outbox);
    this.marks = new MarkRequests(this.outbox);
    this.operations = new RedisOperations(this.outbox, this.topology, settings.clock);
    if (settings.wake === 'pubsub') this.send = this.sendTo.bind(this);
  }

  connect(): void {
    this.topology.connection.connectAhead();
  }

  open(events: StoreEvents): void {
    this.topology.open(events);
  }

  wakesBy(name: string): Waking | undefined {
    if (this.polls) return 'poll';
    return this.topology.inbox?.canReceive(name) ? 'message' : undefined;
  }

  listen(name: string): void {
    this.topology.inbox?.listen(name);
  }

  doubt(name: string): void {
    this.topology.inbox?.doubt(name);
  }

  get trouble(): Error {
    return this.topology.connection.trouble;
  }

  place(claimTtl: number, wanted: number, shared?: SharedTerms): string {
    return formatPlace({ instance: this.settings.instance, claimTtl, wanted, shared });
  }

  acquire(request: AcquireRequest): Promise<Grant | Taken> {
    const answer = this.requests.acquire(request);
    return request.replicas ? answer.then((reply) => this.replicated(reply, request)) : answer;
  }

  async share(request: ShareRequest): Promise<Shares> {
    return this.replicated(await this.requests.share(request), request);
  }

  async yield(request: YieldRequest): Promise<Grant | Taken | undefined> {
    const reply = await this.requests.yield(request);
    return reply && this.replicated(reply, request);
  }

  release(name: string, owner: string, isAwaited = false, gap?: Gap): Promise<boolean> {
    if (gap) return this.requests.releaseWithGap(name, owner, gap);
    return this.requests.release(name, owner, isAwaited && !this.polls);
  }

  extend(batch: readonly Extension[]): Promise<readonly Extended[]> {
    return extendLeases(batch, this.outbox, (extension, demand) => this.confirm(extension, demand));
  }

  async cancel(name: string, { place = '', shared }: Waiting): Promise<readonly string[]> {
    const { outbox } = this;
    const keys = outbox.keySpace.keys(name);
    const kept = shared ? [shared.since, sharedTag(shared.terms)] : [];
    const args = [this.settings.instance, place, outbox.prefixes(keys), ...kept];
    return list(await outbox.run(cancelScript, outbox.withFence(keys), args)).map(ownerId);
  }

  transfer(changes: readonly OwnerChange[], decider: 'first' | 'last' = 'first'): Promise<Transferred> {
    return transferLocks(this.outbox, changes, decider);
  }

  /** Publishes a message. On a Cluster it reaches all nodes, but counts only the listeners at one. */
  private async sendTo(instance: string, message: string): Promise<boolean> {
    const { outbox } = this;
    const receivers = await outbox.run(commandScript, ...outbox.keySpace.messageTo(instance, message));
    return integer(receivers) > 0 || isClusterConnection(this.settings.connection);
  }

  close(): Promise<void> {
    this.outbox.flush();
    this.topology.close();
    return Promise.resolve();
  }

  private get polls(): boolean {
    return this.settings.wake === 'poll' || this.topology.receivers === 'uncounted';
  }

  /** Waits until enough replicas have confirmed a grant. */
  private async replicated<T extends Grant | Taken | Shares>(
    reply: T,
    { name, ttl, replicas }: Pick<AcquireRequest, 'name' | 'ttl' | 'replicas'>,
  ): Promise<T> {
    const grants = grantsIn(reply);
    const [grant] = grants;
    if (!replicas || !grant) return reply;
    const lease = { name, owner: grant.owner, ttl, exact: false };
    const confirmation = await this.confirm(lease, replicas).catch((cause: unknown) => {
      // Unlike other refusals, this one follows a grant.
      throw cause instanceof StoreRefusal ? new TooFewReplicas(grants, replicas, { cause }) : cause;
    });
    if (confirmation) return reply;
    if (confirmation === undefined) throw new TooFewReplicas(grants, replicas);
    throw new Error('The server whose replicas were asked does not have the grant.');
  }

  private async confirm(extension: Extension, demand: ReplicaDemand): Promise<Extended> {
    const { replication } = this.topology;
    if (!replication) throw new Error('The option replicas needs one Redis with its replicas.');
    return replication.confirm(extension, demand);
  }
}

/** Parses the owner id of a hold, which ends in its token. */
function ownerId(reply: unknown): string {
  const owner = text(reply);
  integer(digitsIn(owner));
  return owner;
}
