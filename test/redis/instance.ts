import { byTestedClient } from '../support/by-node-redis.js';
import { SystemClock } from '../../lib/primitives/clock.js';
import { LockEngine } from '../../lib/engine/lock-engine.js';
import type { BudgetLimits } from '../../lib/engine/queue/bid.js';
import { LockService } from '../../lib/service/lock.service.js';
import type { LockStore } from '../../lib/store/lock-store.js';
import { instanceName } from '../../lib/store/owner-id.js';
import { openStore } from '../../lib/store/open-store.js';
import { waitFor } from '../support/wait-for.js';
import { type FlatOptions, resolveFlatOptions } from '../support/flat-options.js';

/** What a test may see of an instance that an application may not. */
export interface InstanceOptions extends FlatOptions {
  /** How long it passes a lock on in memory. */
  readonly budget?: Partial<BudgetLimits>;
}

/** A LockService with its engine and its log in view. */
export class Instance implements AsyncDisposable {
  readonly name = instanceName();
  readonly logged: string[] = [];
  readonly engine: LockEngine;
  readonly store: LockStore;
  readonly locks: LockService;

  constructor({ budget = {}, ...options }: InstanceOptions) {
    const resolved = resolveFlatOptions(byTestedClient(options));
    const note = (message: string): void => void this.logged.push(message);
    const log = { log: note, warn: note, error: note };
    const instance = { name: this.name, clock: new SystemClock(), log };
    this.store = openStore(resolved, instance);
    this.engine = new LockEngine({ ...instance, store: this.store, budget });
    this.locks = new LockService(resolved, this.engine);
  }

  /**
   * Has every connection made and every script loaded, so that later requests are those of locks alone.
   *
   * If it rejects, the instance is closed: its connections would keep Jest from its end.
   */
  async warmUp(): Promise<this> {
    const warm = async (): Promise<true> => {
      await this.locks.using(`warm-up:${this.name}`, { outageTimeout: 10_000 }, (lock) => lock.extend());
      return true;
    };
    try {
      // A client whose own commands time out soon may not be answered in time by a busy machine.
      await waitFor(warm, { timeout: 20_000, that: 'a first lock' });
      await waitFor(() => this.store.wakesBy('warm-up') !== undefined, {
        that: 'the inbox to be subscribed',
      });
    } catch (error) {
      await this.locks.close();
      throw error;
    }
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.locks.close();
  }
}
