import { Redaction } from '../../lib/store/redis/connection/redaction.js';
import { storeError } from '../../lib/store/redis/connection/redis-error.js';
import type { NetworkTerms } from './network-terms.js';
import type { FaultStep, Lane, RequestKind } from './schedule.js';

interface Window<T> {
  readonly from: number;
  readonly to: number;
  readonly fault: T;
}

type Fault<K extends FaultStep['kind']> = Extract<FaultStep, { kind: K }>;

const REDACTION = new Redaction();

/** What the network and the server do to a message at a given time: delay it, or lose it. */
export class Weather {
  private readonly cuts: Window<Fault<'cut'>>[] = [];
  private readonly slowness: Window<Fault<'slow'>>[] = [];
  private readonly pauses: Window<Fault<'pause'>>[] = [];
  private readonly refusals: Window<Fault<'refuse'>>[] = [];
  private readonly denials: Window<Fault<'deny'>>[] = [];
  private trips = 0;

  constructor(private readonly schedule: NetworkTerms) {
    let now = 0;
    for (const step of schedule.steps) {
      now += step.after;
      if (step.kind === 'cut') this.cuts.push({ from: now, to: now + step.lasts, fault: step });
      if (step.kind === 'slow') this.slowness.push({ from: now, to: now + step.lasts, fault: step });
      if (step.kind === 'refuse') this.refusals.push({ from: now, to: now + step.lasts, fault: step });
      if (step.kind === 'deny') this.denials.push({ from: now, to: now + step.lasts, fault: step });
      if (step.kind === 'pause') this.pauses.push({ from: now, to: now + step.lasts, fault: step });
    }
  }

  /** The longest trip in fair weather. */
  get longestTrip(): number {
    return Math.max(...this.schedule.latencies);
  }

  /** When something arrives that is sent now; undefined when it is lost. */
  arrival(now: number, instance: number, lane: Lane): number | undefined {
    const meets = ({ from, to, fault }: Window<Fault<'cut' | 'slow'>>): boolean =>
      fault.instance === instance && fault.what === lane && now >= from && now < to;
    if (this.cuts.some(meets)) return undefined;
    const delay = this.slowness.filter(meets).reduce((sum, { fault }) => sum + fault.by, 0);
    return now + this.trip() + delay;
  }

  /** When the server deals with what arrives at `moment`. */
  served(moment: number): number {
    return this.pauses.reduce(
      (served, { from, to }) => (served >= from ? Math.max(served, to) : served),
      moment,
    );
  }

  /** The error with which the server answers a request now; undefined if it executes the request. */
  refusal(now: number, instance: number, kind: RequestKind | undefined): Error | undefined {
    if (this.refusals.some(({ from, to }) => now >= from && now < to))
      return new Error('LOADING Redis is loading the dataset in memory');
    const denial = this.denials.find(
      ({ from, to, fault }) => fault.instance === instance && fault.what === kind && now >= from && now < to,
    );
    return denial && storeError(new Error(denial.fault.reply), REDACTION);
  }

  private trip(): number {
    const { latencies } = this.schedule;
    return latencies[this.trips++ % latencies.length] ?? 1;
  }
}
