import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { LockLog } from '../diagnostics/lock-log.js';
import { type EngineSettings, LockEngine } from '../engine/lock-engine.js';
import { isQuorum } from '../options/connection/quorum-option.js';
import type { ResolvedModuleOptions } from '../options/module-options.interface.js';
import { type Clock, SystemClock } from '../primitives/clock.js';
import type { LockStore } from '../store/lock-store.js';
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

/**
 * Creates the name of an instance, which shows operators where a holder runs. Replaces characters with a meaning in
 * keys.
 */
export function instanceName(): string {
  const host = hostname().replaceAll(/[^A-Za-z0-9.-]/g, '-') || 'host';
  return `${host}-${process.pid}-${randomBytes(6).toString('hex')}`;
}
