import type { LockLog } from '../diagnostics/lock-log.js';
import { MEMORY } from '../options/connection/connection-option.js';
import { isQuorum } from '../options/connection/quorum-option.js';
import type { ResolvedModuleOptions } from '../options/module-options.interface.js';
import type { Clock } from '../primitives/clock.js';
import type { LockStore } from './lock-store.js';
import { MemoryLockServer } from './memory/memory-lock-server.js';
import { memoryStore } from './memory/memory.store.js';
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
 * Opens the store of one instance: on a Redis, on a quorum, or in memory.
 *
 * The build puts this file, and what only it needs, into a file that loads with the first call.
 */
export function openStore(options: ResolvedModuleOptions, instance: Instance): LockStore {
  const { connection, credentials, keyPrefix, commandTimeout, layout, nodeTimeout, startupChecks, wake } =
    options;
  if (connection === MEMORY) return openMemory(keyPrefix, instance);
  const { name, clock, log } = instance;
  const settings = { credentials, keyPrefix, instance: name, commandTimeout, startupChecks, clock, log };
  if (!isQuorum(connection)) return new RedisStore({ connection, layout, wake, ...settings });
  const nodes = connection.map((each) => new RedisNode({ connection: each, nodeTimeout, ...settings }));
  return new QuorumStore({ nodes, keyPrefix, instance: name, nodeTimeout, clock, random: Math.random });
}

/** By key prefix: services of one process share their locks as they would on one Redis. */
const memories = new Map<string, MemoryLockServer>();

function openMemory(keyPrefix: string, { name, log }: Instance): LockStore {
  const server = memories.get(keyPrefix) ?? new MemoryLockServer();
  memories.set(keyPrefix, server);
  const where = "connection is 'memory': the locks are in this process, and no other process sees them.";
  if (process.env['NODE_ENV'] === 'production')
    log.warn(`${where} In production, set connection to the Redis that all instances share.`);
  else log.log(where);
  return memoryStore(server, name);
}
