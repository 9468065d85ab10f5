import { Logger } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import type { LockService } from '../../service/lock.service.js';
import { LOG_CONTEXT } from '../../diagnostics/lock-log.js';
import { checkApplication, lockedMethodsThrough } from './application-check.js';
import { watchForShutdownHooks } from './shutdown-hooks-check.js';
import { ttlTooShort } from './start.messages.js';

/** A lease needs to be asked for, renewed, and renewed once more when the first renewal is lost. */
const ROUND_TRIPS_OF_A_LEASE = 3;

/** Applications whose classes were looked through, for each of their named modules would do it again. */
const checked = new WeakSet<ModulesContainer>();

/**
 * Warns at the start of an application of what can never work, and lets Redis be connected to.
 *
 * @param service or what a test provides in its place.
 * @throws LockConfigError for what would be unsafe.
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
  // Not before: Nest calls no hook after a start that failed, and the connection would stay.
  service.connect?.();
  watchForShutdownHooks();
  // Not awaited: Redis may be far away, or not there yet, and the application starts all the same.
  void checkLeases(name, service, modules);
}

async function checkLeases(
  name: string | undefined,
  service: Partial<LockService>,
  modules: ModulesContainer,
): Promise<void> {
  // Without an answer there is nothing to compare with, and the connection has reported why.
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
