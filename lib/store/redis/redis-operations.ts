import type { Clock } from '../../primitives/clock.js';
import type { LockSnapshot } from '../lock-snapshot.interface.js';
import { forceReleaseScript } from '../scripts/force-release.script.js';
import { queryScript } from '../scripts/query.script.js';
import type { ForcedRelease, StoreOperations } from '../store-operations.js';
import { hasCode } from './connection/redis-error.js';
import { forcedRelease } from './connection/script-reply.js';
import type { Outbox } from './outbox.js';
import { snapshot } from './query-reply.js';
import { ScriptBatch } from './script-batch.js';
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
    const [answer] = await this.snapshots([name], true);
    if (answer?.status !== 'fulfilled') throw answer?.reason;
    return answer.value;
  }

  async *list(beginning: string): AsyncGenerator<readonly LockSnapshot[], void> {
    for await (const names of this.topology.names(beginning)) {
      const answers = await this.snapshots(names);
      yield answers.flatMap((answer) => {
        if (answer.status === 'fulfilled') return answer.value.held.length > 0 ? [answer.value] : [];
        // A key of another type holds no lock.
        if (hasCode(answer.reason, 'WRONGTYPE')) return [];
        throw answer.reason;
      });
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

  /** Queries holders and waiters of names, after all earlier requests. */
  private snapshots(
    names: readonly string[],
    withMarks = false,
  ): Promise<PromiseSettledResult<LockSnapshot>[]> {
    const { outbox } = this;
    const { keySpace, maxBatch } = this.topology;
    const queries = new ScriptBatch(
      ({ keys }) => outbox.run(queryScript, keys, withMarks ? ['marks'] : []),
      maxBatch,
    );
    const answers = names.map((name) => {
      queries.content.keys.push(...keySpace.keys(name));
      if (withMarks) queries.content.keys.push(keySpace.mark(name));
      return queries.join((reply) => snapshot(name, reply));
    });
    queries.flush();
    return Promise.allSettled(answers);
  }
}
