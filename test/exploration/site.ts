import type { CombinedLock } from '../../lib/engine/hold/combined-lock.js';
import type { Hold } from '../../lib/engine/hold/hold.js';
import type { Lock } from '../../lib/engine/hold/lock.interface.js';
import { parseDetached } from '../../lib/engine/hold/detached-lock.js';
import { LockEngine } from '../../lib/engine/lock-engine.js';
import type { ResolvedLockOptions } from '../../lib/options/lock-options.interface.js';
import type { MemoryLockServer } from '../../lib/store/memory/memory-lock-server.js';
import { Abandonment } from '../../lib/primitives/abandonment.js';
import { Once } from '../../lib/service/once/once.js';
import { ManualClock } from '../unit/engine/manual-clock.js';
import { constant, constantText } from './constants.js';
import { Network } from './network.js';
import { INSTANCES, KEEP, NAMES } from './names.js';
import { sure } from './sure.js';

/** What a caller does: acquires and releases, detaches its hold, attaches it, or calls `once`, with work that fails or not. */
export type Role = 'acquires' | 'passes' | 'takes' | 'runs once' | 'fails';

export interface Caller {
  readonly options: ResolvedLockOptions;
  readonly role: Role;
  /** The number of its name. */
  readonly of: number;
  phase: 'new' | 'waits' | 'holds' | 'finishes' | 'done';
  startedAt: number;
  hold: Hold | undefined;
  /** Whether its hold was seen as over. */
  isOver: boolean;
  /** What its own run of `once` returns. */
  returned: number | undefined;
  /** What its call of `once` resolved to. */
  result: number | undefined;
  /** Its options with its signal, as it passes them. */
  signalled: ResolvedLockOptions | undefined;
  /** Ends its wait. */
  abort: () => void;
  /** Ends its run. */
  finish: (result: number) => void;
}

/** What an instance uses of its world. */
interface Surroundings {
  readonly now: number;
  readonly server: MemoryLockServer;
  /** The string of a detached hold. */
  passed: string | undefined;
  /** What happens now. */
  readonly step: string;
  noteGrant(caller: Caller, hold: Hold): void;
}

const LOG = constant({ log: nothing, warn: nothing, error: nothing }, 'log');

function nothing(): void {}

/** One instance: the engine with its callers, its clock and its network. */
export class Site {
  readonly id: string;
  readonly clock = constant(new ManualClock(), 'clock');
  readonly network: Network;
  readonly engine: LockEngine;
  readonly once: Once;

  constructor(
    readonly i: number,
    readonly callers: readonly Caller[],
    private readonly world: Surroundings,
  ) {
    this.id = sure(INSTANCES[i]);
    this.network = new Network(this.id, world.server, world);
    const { clock } = this;
    const budget = { max: 2, window: 20 };
    this.engine = new LockEngine({ name: this.id, store: this.network.store, clock, log: LOG, budget });
    const { engine } = this;
    const { labels, leases, queues } = engine;
    // No client of another package uses these names, and the machine does not sleep.
    for (const each of [queues.gaps, queues.silentHolders, labels]) constant(each);
    Object.assign(leases, { watchForSuspend: nothing });
    const acquire = engine.acquire.bind(engine);
    this.once = new Once(constant({ engine, maxResult: 100, acquire, runInContext: (_, work) => work() }));
    this.network.store.open(engine);
  }

  /** What the key of a state says of this instance. */
  get content(): unknown {
    const { clock, engine, network, once } = this;
    return [engine, once, clock.times, network];
  }

  enter(caller: Caller): void {
    const { engine, once, world } = this;
    const { of, role } = caller;
    const name = sure(NAMES[of]);
    const abandonment = new Abandonment();
    const options = constant({ ...caller.options, signal: abandonment.signal }, constantText(caller.options));
    caller.signalled = options;
    caller.phase = 'waits';
    caller.startedAt = world.now;
    caller.abort = () => abandonment.abort();
    if (role === 'runs once' || role === 'fails') {
      const work = (lock: Lock): Promise<number> =>
        new Promise((resolve, reject) => {
          this.begin(caller, (lock as CombinedLock).holds[0] as Hold);
          caller.finish = (result) => {
            caller.phase = 'finishes';
            caller.startedAt = world.now;
            caller.returned = result;
            if (role === 'fails') reject(new Error('The work has failed.'));
            else resolve(result);
          };
        });
      void once.call({ name, keep: KEEP, lock: options, run: work }).then(
        (result) => {
          caller.result = result;
          this.end(caller);
        },
        () => this.end(caller),
      );
      return;
    }
    const taken =
      role === 'takes'
        ? engine.attach(parseDetached(world.passed), options).then(([hold]) => sure(hold))
        : engine.acquire(name, options);
    void taken.then(
      (hold) => this.begin(caller, hold),
      () => this.end(caller),
    );
  }

  release(caller: Caller): void {
    void caller.hold?.release();
    this.end(caller);
  }

  /** Detaches the hold of a caller, which releases it if that fails. */
  pass(caller: Caller): void {
    const { hold } = caller;
    caller.phase = 'waits';
    caller.startedAt = this.world.now;
    void hold?.detach().then(
      (text) => {
        this.world.passed = text;
        this.end(caller);
      },
      () => this.release(caller),
    );
  }

  get isIdle(): boolean {
    const { engine } = this;
    return engine.size === 0 && engine.leases.size === 0 && engine.leases.requests.isDone;
  }

  private begin(caller: Caller, hold: Hold): void {
    caller.phase = 'holds';
    caller.hold = hold;
    this.world.noteGrant(caller, hold);
  }

  private end(caller: Caller): void {
    caller.phase = 'done';
    caller.hold = undefined;
  }
}
