import { Logger } from '@nestjs/common';
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { type Clock, SystemClock } from './primitives/clock.js';
import { LockEngine } from './engine/lock-engine.js';
import type { ResolvedModuleOptions } from './options/module-options.interface.js';
import { isQuorum } from './options/connection/quorum-option.js';
import { LockService } from './service/lock.service.js';
import { type LockLog, LOG_CONTEXT } from './diagnostics/lock-log.js';
import type { LockStore } from './store/lock-store.js';
import { MemoryStore } from './store/memory/memory.store.js';
import type { MemoryLockServer } from './store/memory/memory-lock-server.js';
import { QuorumStore } from './store/quorum/quorum.store.js';
import { RedisNode } from './store/quorum/redis-node.js';
import { RedisStore } from './store/redis/redis.store.js';

/** What a new instance's store gets from it. */
export interface Instance {
  /** `<host>-<pid>-<random>` */
  readonly name: string;
  readonly clock: Clock;
  readonly log: LockLog;
}

/** Builds the LockService of one module, on the Redis that its options name. */
export function createLockService(options: ResolvedModuleOptions): LockService {
  return build(options, (instance) => openRedis(options, instance));
}

/** The store of one instance on the Redis, or the quorum of them, that its options name. */
export function openRedis(options: ResolvedModuleOptions, { name, clock, log }: Instance): LockStore {
  const { connection, credentials, keyPrefix, commandTimeout, layout, nodeTimeout, wake } = options;
  const settings = { credentials, keyPrefix, instance: name, commandTimeout, clock, log };
  if (!isQuorum(connection)) return new RedisStore({ connection, layout, wake, ...settings });
  const nodes = connection.map((each) => new RedisNode({ connection: each, nodeTimeout, ...settings }));
  return new QuorumStore({ nodes, keyPrefix, instance: name, nodeTimeout, clock, random: Math.random });
}

export function createMemoryLockService(
  options: ResolvedModuleOptions,
  server: MemoryLockServer,
): LockService {
  return build(options, ({ name }) => new MemoryStore(server, name));
}

function build(options: ResolvedModuleOptions, openStore: (instance: Instance) => LockStore): LockService {
  const { handoff, maxWaiters } = options;
  const clock = new SystemClock();
  const log = new Logger(LOG_CONTEXT);
  const store = openStore({ name: instanceName(), clock, log });
  return new LockService(options, new LockEngine({ store, clock, handoff, maxWaiters, log }));
}

/** Tells an operator where a holder runs; characters that mean something in keys are replaced. */
function instanceName(): string {
  const host = hostname().replaceAll(/[^A-Za-z0-9.-]/g, '-') || 'host';
  return `${host}-${process.pid}-${randomBytes(6).toString('hex')}`;
}
