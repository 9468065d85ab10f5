import type { Hold } from '../../../lib/engine/hold/hold.js';
import { LockEngine } from '../../../lib/engine/lock-engine.js';
import type { BudgetLimits } from '../../../lib/engine/queue/bid.js';
import type { LockOptions } from '../../../lib/options/lock-options.interface.js';
import { LOCK_OPTION_DEFAULTS, resolveLockOptions } from '../../../lib/options/lock-options.js';
import type { StoreEvents } from '../../../lib/store/lock-store.js';
import { ManualClock } from './manual-clock.js';
import { grant, ScriptedStore } from './scripted-store.js';

/** An engine on a clock and a store that a test drives. */
export class EngineFixture {
  readonly store = new ScriptedStore();
  readonly warnings: string[] = [];
  readonly engine: LockEngine;

  constructor(
    budget: Partial<BudgetLimits> = {},
    readonly clock = new ManualClock(),
  ) {
    this.engine = new LockEngine({
      name: 'me',
      store: this.store,
      clock: this.clock,
      budget: { max: 32, window: 20, ...budget },
      log: { log: () => {}, warn: (message) => this.warnings.push(message), error: () => {} },
    });
  }

  get events(): StoreEvents {
    if (!this.store.events) throw new Error('Acquire a lock first: the engine opens its store then.');
    return this.store.events;
  }

  acquire(options: LockOptions = {}, name = 'n'): Promise<Hold> {
    return this.engine.acquire(name, resolveLockOptions(LOCK_OPTION_DEFAULTS, options));
  }

  /** Acquires a lock that nobody else has. */
  async hold(options: LockOptions = {}, { token = 100, tokens = 1, name = 'n' } = {}): Promise<Hold> {
    const hold = this.acquire(options, name);
    await this.store.answer('acquire', grant(token, tokens));
    return hold;
  }
}

/** The parts of a fixture as functions of their own. */
export function bound(fixture: EngineFixture) {
  return {
    clock: fixture.clock,
    store: fixture.store,
    engine: fixture.engine,
    events: () => fixture.events,
    acquire: fixture.acquire.bind(fixture),
    hold: fixture.hold.bind(fixture),
  };
}

/** Tells whether a promise has been settled, and how, without waiting for it. */
export function observe<T>(promise: Promise<T>): { value?: T; error?: unknown } {
  const seen: { value?: T; error?: unknown } = {};
  promise.then(
    (value) => (seen.value = value),
    (error: unknown) => (seen.error = error),
  );
  return seen;
}
