import { Logger, type FactoryProvider, type InjectionToken } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import type { LockService } from '../lock.service.js';
import { LOG_CONTEXT } from '../store/log-context.js';
import { checkApplication, lockedMethodsThrough } from './application-check.js';
import { ttlTooShort } from './start.messages.js';

/** A lease needs to be asked for, renewed, and renewed once more when the first renewal is lost. */
const ROUND_TRIPS_OF_A_LEASE = 3;

/** Applications whose classes were looked through, for each of their named modules would do it again. */
const checked = new WeakSet<ModulesContainer>();

/** Warns at the start of an application of what can never work, and refuses what would be unsafe. */
export class StartCheck {
  constructor(
    private readonly connection: string | undefined,
    /** Or what a test provides in its place. */
    private readonly service: Partial<LockService>,
    private readonly modules: ModulesContainer,
  ) {}

  static provider(connection: string | undefined, token: InjectionToken): FactoryProvider {
    return {
      provide: StartCheck,
      useFactory: (service: LockService, modules: ModulesContainer) =>
        new StartCheck(connection, service, modules),
      inject: [token, ModulesContainer],
    };
  }

  /** @throws LockConfigError for what would be unsafe. */
  run(): void {
    if (!checked.has(this.modules)) {
      checked.add(this.modules);
      checkApplication(this.modules).forEach(warn);
    }
    // Not awaited: Redis may be far away, or not there yet, and the application starts all the same.
    void this.checkLeases();
  }

  private async checkLeases(): Promise<void> {
    // Without an answer there is nothing to compare with, and the connection has reported why.
    const roundTrip = await this.service.measureRoundTrip?.().catch(() => undefined);
    if (roundTrip === undefined) return;
    for (const [owner, ttl] of this.leases()) {
      if (ttl < ROUND_TRIPS_OF_A_LEASE * roundTrip) warn(ttlTooShort(owner, ttl, roundTrip));
    }
  }

  private *leases(): Iterable<readonly [owner: string, ttl: number]> {
    const ttl = this.service.options?.defaults.ttl;
    if (ttl !== undefined) yield ['RedisLockModule', ttl];
    for (const method of lockedMethodsThrough(this.modules, this.connection)) {
      if (method.ttl !== undefined) yield [method.name, method.ttl];
    }
  }
}

function warn(message: string): void {
  Logger.warn(message, LOG_CONTEXT);
}
