import type { BudgetLimits } from '../../../lib/engine/queue/bid.js';
import type { LockService } from '../../../lib/service/lock.service.js';
import { openLockService } from '../../../lib/service/open-lock-service.js';
import { byTestedClient } from '../../support/by-node-redis.js';
import { type FlatOptions, resolveFlatOptions } from '../../support/flat-options.js';
import { QUIET } from '../../support/quiet.js';

/**
 * LockServices of this process, each an instance of its own, closed together. Without NestJS, which takes a process longer to
 * load than all the rest.
 */
export class LockServices implements AsyncDisposable {
  private readonly services: LockService[] = [];

  open(options: FlatOptions, budget: Partial<BudgetLimits> = {}): LockService {
    const resolved = resolveFlatOptions(byTestedClient(options));
    const service = openLockService(resolved, { log: QUIET, budget });
    this.services.push(service);
    return service;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.services.splice(0).map((service) => service.close()));
  }
}
