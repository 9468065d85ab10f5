import { Inject, Injectable } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { type HealthIndicatorResult, HealthIndicatorService } from '@nestjs/terminus';
import { findLockService } from '../service/lock-service.token.js';
import { type Duration, toMilliseconds } from '../options/duration.js';
import { assertOptions, checksOf, milliseconds } from '../options/option-checks.js';
import type { StoreHealth } from '../store/health-check.js';

/** Options of {@link LockHealthIndicator.isHealthy}. */
export interface LockHealthOptions {
  /** The `name` of the `RedisLockModule`; omit it for the module without a name. */
  module?: string;
  /** Time within which Redis must grant and release a lock. Default 1,000. */
  timeout?: Duration;
}

const CHECKS = checksOf({ module: { check: () => {} }, timeout: { check: milliseconds({ min: 1 }) } });

/**
 * A health indicator for `@nestjs/terminus`: whether Redis grants and releases a lock within a time limit.
 *
 * It uses a lock name of its own, so it delays no other caller, and leaves no key behind. During shutdown it is `down`,
 * because no more locks are granted. For a quorum, it also reports the answering nodes. While a majority works but some
 * nodes fail, it is `degraded` (with terminus 12 or newer).
 *
 * @example
 * ```ts
 * constructor(
 *   private readonly health: HealthCheckService,
 *   private readonly locks: LockHealthIndicator,
 * ) {}
 *
 * check() {
 *   return this.health.check([() => this.locks.isHealthy('locks', { timeout: 300 })]);
 * }
 * ```
 */
@Injectable()
export class LockHealthIndicator {
  constructor(
    @Inject(HealthIndicatorService) private readonly indicators: HealthIndicatorService,
    @Inject(ModuleRef) private readonly moduleRef: ModuleRef,
  ) {}

  /**
   * Reports the health of the locks of one module under `key`, with `responseTime` in milliseconds. Settles within
   * `timeout`.
   *
   * @throws LockConfigError for an unknown option, or if the application has no module of that name.
   */
  async isHealthy<const Key extends string>(
    key: Key,
    options: LockHealthOptions = {},
  ): Promise<HealthIndicatorResult<Key>> {
    assertOptions('The options of isHealthy()', options, CHECKS);
    const { module, timeout = 1_000 } = options;
    const locks = findLockService(this.moduleRef, module, 'LockHealthIndicator');
    const health = await locks.checkHealth(toMilliseconds(timeout));
    const session = this.indicators.check(key);
    const found = { responseTime: Math.ceil(health.responseTime), ...nodesOf(health) };
    if (health.trouble) return session.down({ ...found, message: health.trouble.message });
    const isWhole = !health.nodes?.some(({ trouble }) => trouble !== undefined);
    return isWhole || !('degraded' in session) ? session.up(found) : session.degraded(found);
  }
}

/** The number of answering nodes, and the errors of the others. */
function nodesOf({ nodes }: StoreHealth): object {
  if (nodes === undefined) return {};
  const silent = nodes.filter(({ trouble }) => trouble !== undefined);
  return {
    nodes: nodes.length,
    answering: nodes.length - silent.length,
    silent: Object.fromEntries(silent.map(({ name, trouble }) => [name, trouble])),
  };
}
