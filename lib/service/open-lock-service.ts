import { randomBytes } from 'node:crypto';
import type { LockLog } from '../diagnostics/lock-log.js';
import { type EngineSettings, LockEngine } from '../engine/lock-engine.js';
import { isQuorum } from '../options/connection/quorum-option.js';
import type { ResolvedModuleOptions } from '../options/module-options.interface.js';
import { type Clock, SystemClock } from '../primitives/clock.js';
import type { LockStore } from '../store/lock-store.js';
import { THIS_PROCESS } from '../store/owner-id.js';
import { QuorumStore } from '../store/quorum/quorum.store.js';
import { RedisNode } from '../store/quorum/redis-node.js';
import { RedisStore } from '../store/redis/redis.store.js';
import { LockService } from './lock.service.js';

/** The part of a new instance that its store uses. */
export interface Instance {
  /** `<host>-<pid>-<random>` */
  readonly name: string;
  readonly clock: Clock;
  readonly log: LockLog;
}

export interface Surroundings extends Pick<EngineSettings, 'labelPatience'> {
  /** Receives reports that have no caller. */
  readonly log: LockLog;
  /** Opens the store. Default: Redis. */
  readonly openStore?: (instance: Instance) => LockStore;
}

/** Creates a LockService with its own store. */
export function openLockService(
  options: ResolvedModuleOptions,
  { log, openStore = (instance) => openRedis(options, instance), ...settings }: Surroundings,
): LockService {
  const { handoff, maxWaiters } = options;
  const clock = new SystemClock();
  const store = openStore({ name: instanceName(), clock, log });
  return new LockService(options, new LockEngine({ store, clock, handoff, maxWaiters, log, ...settings }));
}

/** Opens the store of one instance on a Redis or a quorum. */
export function openRedis(options: ResolvedModuleOptions, { name, clock, log }: Instance): LockStore {
  const { connection, credentials, keyPrefix, commandTimeout, layout, nodeTimeout, startupChecks, wake } =
    options;
  const settings = { credentials, keyPrefix, instance: name, commandTimeout, startupChecks, clock, log };
  if (!isQuorum(connection)) return new RedisStore({ connection, layout, wake, ...settings });
  const nodes = connection.map((each) => new RedisNode({ connection: each, nodeTimeout, ...settings }));
  return new QuorumStore({ nodes, keyPrefix, instance: name, nodeTimeout, clock, random: Math.random });
}

/** Creates the name of an instance, which shows operators where a holder runs. */
export function instanceName(): string {
  return THIS_PROCESS + randomBytes(6).toString('hex');
}
