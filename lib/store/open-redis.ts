import type { LockLog } from '../diagnostics/lock-log.js';
import { isQuorum } from '../options/connection/quorum-option.js';
import type { ResolvedModuleOptions } from '../options/module-options.interface.js';
import type { Clock } from '../primitives/clock.js';
import type { LockStore } from './lock-store.js';
import { QuorumStore } from './quorum/quorum.store.js';
import { RedisNode } from './quorum/redis-node.js';
import { RedisStore } from './redis/redis.store.js';

/** The part of a new instance that its store uses. */
export interface Instance {
  /** `<host>-<pid>-<random>` */
  readonly name: string;
  readonly clock: Clock;
  readonly log: LockLog;
}

/**
 * Opens the store of one instance on a Redis or a quorum.
 *
 * The build puts this file, and what only it needs, into a file that loads with the first call.
 */
export function openRedis(options: ResolvedModuleOptions, { name, clock, log }: Instance): LockStore {
  const { connection, credentials, keyPrefix, commandTimeout, layout, nodeTimeout, startupChecks, wake } =
    options;
  const settings = { credentials, keyPrefix, instance: name, commandTimeout, startupChecks, clock, log };
  if (!isQuorum(connection)) return new RedisStore({ connection, layout, wake, ...settings });
  const nodes = connection.map((each) => new RedisNode({ connection: each, nodeTimeout, ...settings }));
  return new QuorumStore({ nodes, keyPrefix, instance: name, nodeTimeout, clock, random: Math.random });
}
