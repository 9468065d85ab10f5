import { Logger } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import type { LockService } from '../../service/lock.service.js';
import { LOG_CONTEXT } from '../../diagnostics/lock-log.js';
import { checkApplication, lockedMethodsThrough } from './application-check.js';
import { watchForShutdownHooks } from './shutdown-hooks-check.js';

/** Round trips of a lease: the acquire, a renewal, and a second renewal if the first one is lost. */
const ROUND_TRIPS_OF_A_LEASE = 3;

/** Applications whose classes were checked; without it, each named module would repeat the check. */
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
  const leases = leasesOf(name, service, modules);
  // Not earlier: Nest calls no hook after a failed start, and the connection would stay open.
  service.connect?.();
  watchForShutdownHooks();
  // Not awaited: the application starts even if Redis is distant or not available yet.
  void checkLeases(leases, service);
}

interface OwnedLease {
  readonly owner: string;
  readonly ttl: number;
}

/**
 * The leases of a module and of the methods that override it. A mock of LockService has no options.
 *
 * @throws LockConfigError for options of a method that can never work, such as an unknown preset.
 */
function leasesOf(
  name: string | undefined,
  { options }: Partial<LockService>,
  modules: ModulesContainer,
): readonly OwnedLease[] {
  if (!(options?.presets instanceof Map)) return [];
  const { ttl } = options.defaults;
  const methods = Array.from(lockedMethodsThrough(modules, name), (method) => ({
    owner: method.name,
    ttl: method.optionsIn(options).ttl,
  }));
  return [{ owner: 'RedisLockModule', ttl }, ...methods.filter((method) => method.ttl !== ttl)];
}

async function checkLeases(leases: readonly OwnedLease[], service: Partial<LockService>): Promise<void> {
  // Without a reply there is nothing to compare, and the connection has reported the reason.
  const roundTrip = await service.measureRoundTrip?.().catch(() => undefined);
  if (roundTrip === undefined) return;
  for (const { owner, ttl } of leases) {
    const least = ROUND_TRIPS_OF_A_LEASE * roundTrip;
    if (ttl >= least) continue;
    warn(
      `The ttl of ${owner}, ${ttl} ms, is shorter than three round trips to Redis, of ${roundTrip.toFixed(1)} ms each: leases ` +
        `will end before they are renewed. Use at least ${Math.ceil(least)} ms, better ten times as much.`,
    );
  }
}

function warn(message: string): void {
  Logger.warn(message, LOG_CONTEXT);
}
