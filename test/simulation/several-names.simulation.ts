import { LockEngine } from '../../lib/engine/lock-engine.js';
import type { Lock } from '../../lib/engine/hold/lock.interface.js';
import { LockService } from '../../lib/service/lock.service.js';
import { MemoryLockServer } from '../../lib/store/memory/memory-lock-server.js';
import { memoryStore } from '../../lib/store/memory/memory.store.js';
import { CommandConnection } from './command-connection.js';
import { InboxConnection } from './inbox-connection.js';
import { instanceCalled } from './instance-called.js';
import { SimulatedProcess } from './simulated-process.js';
import { SimulatedStore } from './simulated-store.js';
import { VirtualTime } from './virtual-time.js';
import { Weather } from './weather.js';
import { resolveFlatOptions } from '../support/flat-options.js';
import { QUIET } from '../support/quiet.js';

const EPOCH = 1_000;
/** Trips that a call may need for one of its names: attempts, giving back, queueing, hand-off. */
const TRIPS_FOR_A_NAME = 8;

/** A call for several names. */
interface SeveralNamesCall {
  readonly instance: number;
  readonly names: readonly string[];
  /** Milliseconds after the call before. */
  readonly after: number;
  readonly work: number;
  /** Gives up the wait after this long. */
  readonly abortAfter: number | undefined;
}

export interface SeveralNamesSchedule {
  readonly instances: number;
  readonly budget: { readonly max: number; readonly window: number };
  /** Milliseconds of the ways of messages, in turn. */
  readonly latencies: readonly number[];
  readonly calls: readonly SeveralNamesCall[];
}

/** Calls for several names by several instances, in virtual time. Nothing fails: everybody has to have its turn. */
export class SeveralNamesSimulation {
  private readonly time = new VirtualTime();
  private readonly server = new MemoryLockServer(() => EPOCH + this.time.now);
  private readonly processes: { process: SimulatedProcess; engine: LockEngine; locks: LockService }[];
  private readonly holders = new Map<string, SeveralNamesCall>();
  private readonly waiting = new Set<SeveralNamesCall>();

  constructor(private readonly schedule: SeveralNamesSchedule) {
    const { latencies, budget } = schedule;
    const weather = new Weather({ drifts: [], budget, latencies, straggle: undefined, steps: [] });
    this.processes = Array.from({ length: schedule.instances }, (_, i) => {
      const process = new SimulatedProcess(this.time, 1, 10_000 * i);
      const name = instanceCalled(`p${i}`);
      const remote = memoryStore(this.server, name);
      const commands = new CommandConnection(this.time, process, weather, i, undefined);
      const inbox = new InboxConnection(this.time, process, weather, i, remote);
      const options = resolveFlatOptions({ wait: Infinity });
      const store = new SimulatedStore(remote, commands, inbox);
      const engine = new LockEngine({
        name,
        store,
        clock: process,
        budget,
        log: QUIET,
        // Errors do not wait for the labels of other instances.
        labelIntervals: [],
      });
      return { process, engine, locks: new LockService(options, engine) };
    });
  }

  /** Rejects where two have a name at once, where somebody waits for longer than all others' work, or where something is left. */
  async run(): Promise<void> {
    let moment = 0;
    let bound = 0;
    const longest = Math.max(...this.schedule.latencies);
    for (const call of this.schedule.calls) {
      moment += call.after;
      bound += call.work + call.names.length * TRIPS_FOR_A_NAME * longest;
      this.time.at(moment, () => this.begin(call));
    }
    bound += moment;
    while (await this.time.step(ignore)) {
      if (this.time.now > bound && this.waiting.size > 0) throw new Error(this.describe(`after ${bound} ms`));
    }
    if (this.waiting.size > 0 || this.processes.some(({ engine }) => engine.size > 0))
      throw new Error(this.describe('at rest'));
  }

  private begin(call: SeveralNamesCall): void {
    const { instance, names, abortAfter } = call;
    const at = this.processes[instance % this.processes.length];
    const caller = new AbortController();
    if (abortAfter !== undefined) at?.process.schedule(() => caller.abort(), abortAfter);
    this.waiting.add(call);
    at?.process.run('timers', () => {
      at.locks.acquire(names, { signal: caller.signal }).then(
        (lock) => this.work(call, lock, at.process),
        (error: unknown) => {
          if (!caller.signal.aborted) throw error;
          this.waiting.delete(call);
        },
      );
    });
  }

  private work(call: SeveralNamesCall, lock: Lock, process: SimulatedProcess): void {
    this.waiting.delete(call);
    for (const name of lock.keys) {
      if (this.holders.has(name)) throw new Error(`Two have ${name} at ${this.time.now}`);
      this.holders.set(name, call);
    }
    process.schedule(() => {
      for (const name of lock.keys) this.holders.delete(name);
      void lock.release();
    }, call.work);
  }

  private describe(when: string): string {
    const stuck = [...this.waiting].map(({ names, instance }) => `p${instance} for ${names.join()}`);
    return `Waiting ${when}: ${stuck.join('; ') || 'nobody'}; had: ${[...this.holders.keys()].join()}`;
  }
}

function ignore(): void {}
