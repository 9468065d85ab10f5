import type { Clock } from '../../../primitives/clock.js';
import type { ReplicaDemand } from '../../grant.js';
import type { Extended } from '../../lock-store.js';
import type { RedisConnection } from '../connection/connection.js';
import { ReplicaLane, type ReplicatedLease } from './replica-lane.js';

/** Lets replicas confirm leases before they count. Opens one connection for each required number of replicas. */
export class Replication {
  private readonly lanes = new Map<number, ReplicaLane>();

  constructor(
    private readonly connection: RedisConnection,
    private readonly clock: Clock,
    private readonly commandTimeout: number,
  ) {}

  /** Extends a lease; resolves when the replicas have it, or their time has passed. */
  confirm(lease: ReplicatedLease, { min, timeout }: ReplicaDemand): Promise<Extended> {
    let lane = this.lanes.get(min);
    if (!lane) {
      lane = new ReplicaLane(min, this.connection, this.clock, this.commandTimeout);
      this.lanes.set(min, lane);
    }
    return lane.confirm(lease, timeout);
  }
}
