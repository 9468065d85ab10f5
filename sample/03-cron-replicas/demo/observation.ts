import { setTimeout as delay } from 'node:timers/promises';
import type { Instances } from '../../support/instances.js';
import type { Replica } from './replicas.js';
import type { Run, RunLog } from './run-log.js';

const LOOK_INTERVAL = 10;
/** Milliseconds after which a process that should have got further is taken for dead. */
const TIMEOUT = 30_000;

/** The runs of all jobs for one tick. */
export interface Tick {
  readonly tick: number;
  readonly runs: readonly Run[];
  /** The process that was killed in the middle of its work for this tick. */
  readonly killed?: string;
}

export interface ObservationOptions {
  readonly replicas: readonly Replica[];
  readonly instances: Instances;
  readonly log: RunLog;
  readonly signal: AbortSignal;
  /** Told of each tick when all processes are past it. */
  readonly onTick: (tick: Tick) => void;
}

/** Follows ticks, from the first one by which all processes have run the jobs: their first runs begin late. */
export class Observation {
  readonly ticks: Tick[] = [];
  private next = Math.floor(Date.now() / 1_000) + 3;
  private death: { readonly instance: string; readonly tick: number } | undefined;

  constructor(private readonly options: ObservationOptions) {}

  /** Follows so many ticks from the next one on, or from the one after a death. */
  async follow(count: number): Promise<void> {
    const end = (this.death === undefined ? this.next : this.death.tick + 1) + count;
    while (this.next < end) {
      const runs = await this.look();
      if (this.isOver(this.next, runs)) this.add(this.next, runs);
    }
  }

  /** Kills the process that runs the job with `minHold`, in the middle of its work. */
  async killHolder(): Promise<void> {
    const { replicas, instances } = this.options;
    while (this.death === undefined) {
      const working = (await this.look()).find(({ job, ended }) => job === 'minHold' && ended === undefined);
      if (working === undefined) continue;
      instances.kill(replicas.findIndex(({ name }) => name === working.instance));
      this.death = working;
    }
  }

  private isOver(tick: number, runs: readonly Run[]): boolean {
    const alive = this.options.replicas.filter(({ name }) => name !== this.death?.instance);
    return alive.every(({ name }) => runs.some((run) => run.instance === name && run.tick > tick));
  }

  private add(tick: number, runs: readonly Run[]): void {
    const killed = this.death?.tick === tick ? { killed: this.death.instance } : {};
    const over = { tick, runs: runs.filter((run) => run.tick === tick), ...killed };
    this.ticks.push(over);
    this.options.onTick(over);
    this.next += 1;
  }

  /** The runs for the next tick and later ones. */
  private async look(): Promise<Run[]> {
    const { log, signal } = this.options;
    await delay(LOOK_INTERVAL, undefined, { signal });
    if (Date.now() > this.next * 1_000 + TIMEOUT) throw new Error('A process has stopped running its jobs');
    return log.since(this.next);
  }
}
