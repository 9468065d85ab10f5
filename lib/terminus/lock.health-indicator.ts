import { Inject, Injectable } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { type HealthIndicatorResult, HealthIndicatorService } from '@nestjs/terminus';
import { findLockService } from '../service/lock-service.token.js';
import { assertOptions, milliseconds, optionChecks } from '../options/option-checks.js';
import type { StoreHealth } from '../store/health-check.js';

/** Which locks {@link LockHealthIndicator.isHealthy} looks at, and for how long. */
export interface LockHealthOptions {
  /** The `name` of the `RedisLockModule`; left out for the one without a name. */
  module?: string;
  /** Milliseconds within which Redis has to grant and release a lock. Default 1,000. */
  timeout?: number;
}

const CHECKS = optionChecks({ module: () => {}, timeout: milliseconds({ min: 1 }) });

/**
 * A health indicator for `@nestjs/terminus`: whether Redis can grant and release a lock within a bound.
 *
 * It uses a name of its own, so it waits for nobody and nobody waits for it, and leaves no key behind. During
 * shutdown it is `down`, for then no more locks are granted. Of a quorum it also tells which nodes answer, and is
 * `degraded` (where terminus knows that, from version 12 on) while the locks work but not all of the nodes do.
 *
 * @example
 * ```ts
 * @Controller('health')
 * export class HealthController {
 *   constructor(
 *     private readonly health: HealthCheckService,
 *     private readonly locks: LockHealthIndicator,
 *   ) {}
 *
 *   @Get()
 *   @HealthCheck()
 *   check() {
 *     return this.health.check([() => this.locks.isHealthy('locks', { timeout: 300 })]);
 *   }
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
   * The health of the locks of one module under `key`, with `responseTime` in milliseconds. Settles within `timeout`.
   *
   * @throws LockConfigError for an unknown option, or where the application has no such module.
   */
  async isHealthy<const Key extends string>(
    key: Key,
    options: LockHealthOptions = {},
  ): Promise<HealthIndicatorResult<Key>> {
    assertOptions('The options of isHealthy()', options, CHECKS);
    const { module, timeout = 1_000 } = options;
    const locks = findLockService(this.moduleRef, module, 'LockHealthIndicator');
    const health = await locks.checkHealth(timeout);
    const session = this.indicators.check(key);
    const found = { responseTime: Math.ceil(health.responseTime), ...nodesOf(health) };
    if (health.trouble) return session.down({ ...found, message: health.trouble.message });
    const isWhole = !health.nodes?.some(({ trouble }) => trouble !== undefined);
    return isWhole || !('degraded' in session) ? session.up(found) : session.degraded(found);
  }
}

/** How many nodes answer, and why the others do not. */
function nodesOf({ nodes }: StoreHealth): object {
  if (nodes === undefined) return {};
  const silent = nodes.filter(({ trouble }) => trouble !== undefined);
  return {
    nodes: nodes.length,
    answering: nodes.length - silent.length,
    silent: Object.fromEntries(silent.map(({ name, trouble }) => [name, trouble])),
  };
}
