import { LockEngine } from '../../lib/engine/lock-engine.js';
import type { Lock } from '../../lib/engine/hold/lock.interface.js';
import type { LockOptions } from '../../lib/options/lock-options.interface.js';
import { LockService } from '../../lib/service/lock.service.js';
import { MemoryLockServer } from '../../lib/store/memory/memory-lock-server.js';
import { memoryStore } from '../../lib/store/memory/memory.store.js';
import { resolveFlatOptions } from '../support/flat-options.js';
import { CommandConnection } from './command-connection.js';
import { InboxConnection } from './inbox-connection.js';
import { instanceCalled } from './instance-called.js';
import { SimulatedProcess } from './simulated-process.js';
import { SimulatedStore } from './simulated-store.js';
import { VirtualTime } from './virtual-time.js';
import { Weather } from './weather.js';

const EPOCH = 1_000;
/** Milliseconds of each way through the network. */
const LATENCY = 2;
export const ROUND_TRIP = 2 * LATENCY;
/** When the call comes whose end is tested; before it, others acquire what they hold. */
export const START = 40;
/** When the server grants what others hold. */
export const ACQUIRED = 12;
/** Milliseconds by which an end may be late: it takes up to four simulated timers, each of a millisecond at least. */
const SLACK = 5;

/** What came of a call, and when, counted from its start. */
export interface Outcome {
  readonly after: number;
  readonly lock?: Lock;
  readonly error?: unknown;
}

/** Two instances on one server, in virtual time. */
export class EdgeScene {
  readonly time = new VirtualTime();
  private readonly server = new MemoryLockServer(() => EPOCH + this.time.now);
  readonly processes: readonly SimulatedProcess[];
  readonly here: LockService;
  readonly there: LockService;

  /** @param silence the server does nothing for so long, so many milliseconds after {@link START} */
  constructor(silence: { readonly after: number; readonly lasts: number } = { after: 0, lasts: 0 }) {
    const { after, lasts } = silence;
    const weather = new Weather({
      drifts: [],
      budget: { max: 32, window: 20 },
      latencies: [LATENCY],
      straggle: undefined,
      steps: [{ kind: 'pause', after: START + after, lasts }],
    });
    this.processes = [0, 1].map((i) => new SimulatedProcess(this.time, 1, 10_000 * i));
    const [here, there] = this.processes.map((process, i) => this.open(process, weather, i));
    if (!here || !there) throw new Error('There are two processes.');
    this.here = here;
    this.there = there;
  }

  /** Does something so many milliseconds after {@link START}. */
  at(moment: number, call: () => void): void {
    this.time.at(START + moment, call);
  }

  /** Has a lock by the start, which `use` gets. */
  hold(locks: LockService, name: string, options: LockOptions, use: (lock: Lock) => void = ignore): void {
    this.time.at(ACQUIRED - LATENCY, () => void locks.acquire(name, options).then(use));
  }

  /** What comes of a call that is made at the start; undefined where nothing has by `latest`. */
  async outcomeOf(call: () => Promise<Lock>, latest: number): Promise<Outcome | undefined> {
    let outcome: Outcome | undefined;
    this.at(0, () => {
      const after = (): number => this.time.now - START;
      call().then(
        (lock) => (outcome = { after: after(), lock }),
        (error: unknown) => (outcome = { after: after(), error }),
      );
    });
    await this.passUntil(() => outcome !== undefined, latest + SLACK);
    return outcome;
  }

  async passUntil(isDone: () => boolean, latest: number): Promise<void> {
    while (!isDone() && this.time.now <= START + latest && (await this.time.step(ignore)));
  }

  private open(process: SimulatedProcess, weather: Weather, i: number): LockService {
    const name = instanceCalled(`p${i}`);
    const remote = memoryStore(this.server, name);
    const commands = new CommandConnection(this.time, process, weather, i, undefined);
    const inbox = new InboxConnection(this.time, process, weather, i, remote);
    const options = resolveFlatOptions({});
    const engine = new LockEngine({
      name,
      store: new SimulatedStore(remote, commands, inbox),
      clock: process,
      log: { log: ignore, warn: ignore, error: ignore },
    });
    return new LockService(options, engine);
  }
}

function ignore(): void {}
