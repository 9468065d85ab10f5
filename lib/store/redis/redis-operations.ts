import type { Clock } from '../../primitives/clock.js';
import type { LockSnapshot } from '../lock-snapshot.interface.js';
import { forceReleaseScript } from '../scripts/force-release.script.js';
import type { ForcedRelease, StoreOperations } from '../store-operations.js';
import { forcedRelease } from './connection/script-reply.js';
import type { Outbox } from './outbox.js';
import { lookAt, queryNames } from './query-names.js';
import type { Topology } from './topology.js';

/**
 * Number of measured round trips. The first one may include the text of a script, and each may meet a busy event loop.
 */
const ROUND_TRIP_SAMPLES = 3;

export class RedisOperations implements StoreOperations {
  constructor(
    private readonly outbox: Outbox,
    private readonly topology: Topology,
    private readonly clock: Clock,
  ) {}

  async query(name: string): Promise<LockSnapshot> {
    const [answer] = await queryNames([name], this.outbox, true);
    if (answer?.status !== 'fulfilled') throw answer?.reason;
    return answer.value;
  }

  async *list(beginning: string): AsyncGenerator<readonly LockSnapshot[], void> {
    for await (const names of this.topology.names(beginning)) {
      const snapshots = await lookAt(names, this.outbox);
      yield snapshots.filter(({ held }) => held.length > 0);
    }
  }

  async forceRelease(name: string, owners?: readonly string[]): Promise<ForcedRelease> {
    const { outbox, topology } = this;
    const keys = outbox.keySpace.keys(name);
    const only = owners ? ['only', ...owners] : [];
    const args = [outbox.prefixes(keys), outbox.keySpace.revocations, ...only];
    const forced = forcedRelease(await outbox.run(forceReleaseScript, outbox.withFence(keys), args));
    await topology.notifyRevoked?.(forced.released, name);
    return forced;
  }

  async roundTrip(): Promise<number> {
    await this.topology.connection.ready();
    let shortest = Number.POSITIVE_INFINITY;
    for (let i = 0; i < ROUND_TRIP_SAMPLES; i += 1) {
      const sent = this.clock.now();
      await this.query('nest-redis-lock:round-trip');
      shortest = Math.min(shortest, this.clock.now() - sent);
    }
    return shortest;
  }
}
