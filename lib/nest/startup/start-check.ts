import { Logger } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import type { LockService } from '../../service/lock.service.js';
import { LOG_CONTEXT } from '../../diagnostics/lock-log.js';
import { checkApplication, lockedMethodsThrough } from './application-check.js';
import { watchForShutdownHooks } from './shutdown-hooks-check.js';
import { ttlTooShort } from './start.messages.js';

/** Round trips of a lease: the acquire, a renewal, and a second renewal if the first one is lost. */
const ROUND_TRIPS_OF_A_LEASE = 3;

/** Applications whose classes were checked; otherwise each of their named modules would repeat it. */
const checked = new WeakSet<ModulesContainer>();

/**
 * Warns at the start of an application about locked methods that can never work, and connects to Redis.
 *
 * @param service the service, or its mock.
 * @throws LockConfigError for unsafe use.
 */
export function checkStart(
  name: string | undefined,
  service: Partial<LockService>,
  modules: ModulesContainer,
): void {
  if (!checked.has(modules)) {
    checked.add(modules);
    checkApplication(modules).forEach(warn);
  }
  // Not earlier: Nest calls no hook after a failed start, and the connection would stay open.
  service.connect?.();
  watchForShutdownHooks();
  // Not awaited: the application starts even if Redis is distant or not available yet.
  void checkLeases(name, service, modules);
}

async function checkLeases(
  name: string | undefined,
  service: Partial<LockService>,
  modules: ModulesContainer,
): Promise<void> {
  // Without a reply there is nothing to compare, and the connection has reported the reason.
  const roundTrip = await service.measureRoundTrip?.().catch(() => undefined);
  if (roundTrip === undefined) return;
  const ofModule = { name: 'RedisLockModule', ttl: service.options?.defaults.ttl };
  for (const { name: owner, ttl = Infinity } of [ofModule, ...lockedMethodsThrough(modules, name)]) {
    if (ttl < ROUND_TRIPS_OF_A_LEASE * roundTrip) warn(ttlTooShort(owner, ttl, roundTrip));
  }
}

function warn(message: string): void {
  Logger.warn(message, LOG_CONTEXT);
}
