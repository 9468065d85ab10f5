import type { LockSnapshot } from '../../lib/store/lock-snapshot.interface.js';
import type { LockStore } from '../../lib/store/lock-store.js';
import { memoryStore } from '../../lib/store/memory/memory.store.js';
import { ScriptTwin } from '../support/script-twin.js';
import { CommandConnection } from './command-connection.js';
import { InboxConnection } from './inbox-connection.js';
import { KnownModes } from './known-modes.js';
import type { FaultStep, LossStep, TimedStep } from './schedule.js';
import type { NetworkTerms } from './network-terms.js';
import type { SimulatedProcess } from './simulated-process.js';
import { SimulatedStore } from './simulated-store.js';
import type { VirtualTime } from './virtual-time.js';
import { Weather } from './weather.js';

/** The server's clock at the start, in milliseconds: tokens are short in the log. */
export const EPOCH = 1_000;
/** After faults: a request that was lost without notice, the reconnect, and a re-ask. */
export const HEALING = 1_000 + 50 + 1_000 * 1.02;

type StepOf<K extends TimedStep['kind']> = Extract<FaultStep | LossStep, { kind: K }> &
  Pick<TimedStep, 'node'>;

/** One instance's connections to where the locks are kept. */
export interface Link {
  readonly store: LockStore;
  /** Breaks the connection for commands for a while. */
  reset(step: StepOf<'reset'>): void;
  /** Breaks the inbox's connection for a while. */
  deafen(step: StepOf<'deafen'>): void;
  /** The instance is gone, and that is noticed. */
  drop(): void;
}

/** Where the locks of a simulation are kept, with the network in front of it. */
export interface Servers {
  /** The longest trip through the network in fair weather. */
  readonly longestTrip: number;
  /** Until when contenders that split the votes of several servers keep out of each other's way. */
  readonly contendedUntil: number;
  /** By how many ms the servers' clocks differ: an instance that has heard of some of them dates its place by those. */
  readonly clockSpread: number;
  /** How long faults have an effect after they are over, at most. */
  readonly healing: number;
  /** A grant that a node has made although its release had reached it before; undefined where there is none. */
  readonly revived: string | undefined;
  link(instance: string, index: number, process: SimulatedProcess): Link;
  query(name: string): LockSnapshot;
  /** Loses the data. */
  clear(step: StepOf<'flush'>): void;
  forceRelease(name: string): void;
}

/** One Redis. */
export class SingleServer implements Servers {
  readonly healing = HEALING;
  readonly contendedUntil = 0;
  readonly clockSpread = 0;
  readonly revived = undefined;
  private readonly server: ScriptTwin;
  private readonly weather: Weather;

  constructor(
    private readonly time: VirtualTime,
    private readonly schedule: NetworkTerms,
  ) {
    this.server = new ScriptTwin(() => EPOCH + time.now);
    this.weather = new Weather(schedule);
  }

  get longestTrip(): number {
    return this.weather.longestTrip;
  }

  link(instance: string, index: number, process: SimulatedProcess): Link {
    const { time, weather, schedule } = this;
    const remote = this.remoteOf(instance);
    const commands = new CommandConnection(time, process, weather, index, schedule.straggle);
    const inbox = new InboxConnection(time, process, weather, index, remote);
    return {
      store: new SimulatedStore(
        remote,
        commands,
        inbox,
        new KnownModes(this.server),
        schedule.dated ? time : undefined,
      ),
      reset: ({ lasts, resends }) => commands.reset(lasts, resends),
      deafen: ({ lasts, first, lag }) => inbox.break(lasts, first, lag),
      drop: () => inbox.drop(),
    };
  }

  query(name: string): LockSnapshot {
    return this.server.query(name);
  }

  clear(): void {
    this.server.clear();
  }

  forceRelease(name: string): void {
    this.server.forceRelease(name);
  }

  protected remoteOf(instance: string): LockStore {
    return memoryStore(this.server, instance);
  }
}
