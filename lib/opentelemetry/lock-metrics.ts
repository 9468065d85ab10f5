import type { Attributes, BatchObservableResult, Meter, MeterProvider } from '@opentelemetry/api';
import type { LockListeners } from '../diagnostics/lock-channel.js';
import type { LockAcquire } from '../diagnostics/lock-events.interface.js';
import {
  attributesOf,
  BoundedLabels,
  errorType,
  NAME,
  type ObservedCall,
  VERSION,
} from './lock-attributes.js';

/** Bucket boundaries in seconds, from free locks to the longest usual waits. */
const BOUNDARIES = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Holds with equal attributes. */
interface HoldGroup {
  readonly attributes: Attributes;
  /** When each was granted, by `performance.now()`, the oldest first. */
  readonly since: Map<LockAcquire, number>;
}

/** The holds of this process that have not ended, grouped by their attributes. */
class CurrentHolds {
  private readonly groupOf = new Map<LockAcquire, HoldGroup>();
  /** Groups stay without holds: the OpenTelemetry SDK repeats the last value of a group that is not observed. */
  private readonly byAttributes = new Map<string, HoldGroup>();

  add(acquire: LockAcquire, attributes: Attributes): void {
    const key = JSON.stringify(attributes);
    const group = this.byAttributes.get(key) ?? { attributes, since: new Map<LockAcquire, number>() };
    this.byAttributes.set(key, group);
    this.groupOf.set(acquire, group);
    group.since.set(acquire, performance.now());
  }

  delete(acquire: LockAcquire): void {
    this.groupOf.get(acquire)?.since.delete(acquire);
    this.groupOf.delete(acquire);
  }

  clear(): void {
    for (const acquire of [...this.groupOf.keys()]) this.delete(acquire);
  }

  /** The number of holds of each group, and the age of the oldest in milliseconds. */
  *groups(): Iterable<{ attributes: Attributes; count: number; age: number }> {
    const now = performance.now();
    for (const { attributes, since } of this.byAttributes.values()) {
      const [oldest = now] = since.values();
      yield { attributes, count: since.size, age: now - oldest };
    }
  }
}

type Instruments = ReturnType<typeof createInstruments>;

/** Records metrics of locks, with durations in seconds as the conventions require. */
export class LockMetrics {
  private provider: MeterProvider | undefined;
  private instruments: Instruments | undefined;
  /** Waiting calls, with the attributes under which they were counted. */
  private readonly waiting = new Map<LockAcquire, Attributes>();
  private readonly holds = new CurrentHolds();
  private readonly labels = new BoundedLabels();

  constructor(
    /** Read at each message, because an application may set its provider later. */
    private readonly currentProvider: () => MeterProvider,
    private readonly withNames: () => boolean,
  ) {}

  readonly listeners: LockListeners = {
    'nest-redis-lock:acquire:start': ({ acquire }) => {
      const attributes = this.attributesOf(acquire);
      this.waiting.set(acquire, attributes);
      this.on.queue.add(1, attributes);
    },
    'nest-redis-lock:acquire:granted': ({ acquire, waited, how }) => {
      this.recordWait(acquire, waited, { 'lock.outcome': 'granted', 'lock.granted.how': how });
      this.holds.add(acquire, this.attributesOf(acquire));
    },
    'nest-redis-lock:acquire:timeout': ({ acquire, waited }) => {
      this.recordWait(acquire, waited, { 'lock.outcome': 'timeout' });
    },
    'nest-redis-lock:acquire:shared': ({ acquire, waited }) => {
      this.recordWait(acquire, waited, { 'lock.outcome': 'shared' });
    },
    'nest-redis-lock:acquire:failed': ({ acquire, waited, error }) => {
      this.recordWait(acquire, waited, { 'lock.outcome': 'failed', ...errorType(error) });
    },
    'nest-redis-lock:hold:released': ({ acquire, age }) => {
      this.holds.delete(acquire);
      this.on.hold.record(age / 1_000, { ...this.attributesOf(acquire), 'lock.outcome': 'released' });
    },
    'nest-redis-lock:hold:lost': ({ acquire, age, reason }) => {
      this.holds.delete(acquire);
      const attributes = this.attributesOf(acquire);
      this.on.hold.record(age / 1_000, { ...attributes, 'lock.outcome': 'lost' });
      this.on.lost.add(1, { ...attributes, 'lock.lost.reason': reason });
    },
    'nest-redis-lock:lease:renewal': ({ lag, answered }) => {
      this.on.lag.record(lag / 1_000, { 'lock.outcome': answered ? 'answered' : 'unanswered' });
    },
    'nest-redis-lock:method:skipped': ({ names, ...origin }) => {
      this.on.skipped.add(1, attributesOf({ name: names.join(', '), ...origin }, this.withNames()));
    },
    'nest-redis-lock:once:ended': ({ outcome, ...call }) => {
      this.on.once.add(1, { ...this.attributesOf(call), 'lock.outcome': outcome });
    },
  };

  /** Stops counting all waiting calls and holds, because their ends will not be observed. */
  stop(): void {
    for (const acquire of [...this.waiting.keys()]) this.endWait(acquire);
    this.holds.clear();
  }

  private recordWait(acquire: LockAcquire, waited: number, outcome: Attributes): void {
    this.endWait(acquire);
    this.on.wait.record(waited / 1_000, { ...this.attributesOf(acquire), ...outcome });
  }

  private endWait(acquire: LockAcquire): void {
    const attributes = this.waiting.get(acquire);
    // A call that began to wait before this listener started was not counted.
    if (attributes === undefined) return;
    this.waiting.delete(acquire);
    this.on.queue.add(-1, attributes);
  }

  private attributesOf(call: ObservedCall): Attributes {
    return attributesOf(this.labels.replace(call), this.withNames());
  }

  private get on(): Instruments {
    const provider = this.currentProvider();
    if (this.instruments === undefined || this.provider !== provider)
      this.instruments = this.createInstruments(provider.getMeter(NAME, VERSION));
    this.provider = provider;
    return this.instruments;
  }

  private createInstruments(meter: Meter): Instruments {
    const instruments = createInstruments(meter);
    const { held, oldestHold } = instruments;
    const observe = (result: BatchObservableResult): void => {
      // An earlier provider may still collect.
      if (this.instruments !== instruments) return;
      for (const { attributes, count, age } of this.holds.groups()) {
        result.observe(held, count, attributes);
        result.observe(oldestHold, age / 1_000, attributes);
      }
    };
    meter.addBatchObservableCallback(observe, [held, oldestHold]);
    return instruments;
  }
}

function createInstruments(meter: Meter) {
  const seconds = { unit: 's', advice: { explicitBucketBoundaries: BOUNDARIES } };
  return {
    wait: meter.createHistogram('lock.wait.duration', {
      description: 'How long calls waited for a lock, whatever the outcome.',
      ...seconds,
    }),
    hold: meter.createHistogram('lock.hold.duration', {
      description: 'How long locks were held.',
      ...seconds,
    }),
    lost: meter.createCounter('lock.lost', {
      description: 'Holds that ended before they were released.',
      unit: '{hold}',
    }),
    queue: meter.createUpDownCounter('lock.queue.length', {
      description: 'Calls of this process that wait for a lock.',
      unit: '{call}',
    }),
    lag: meter.createHistogram('lock.renewal.lag', {
      description: 'Time from when a renewal was due to its reply.',
      ...seconds,
    }),
    skipped: meter.createCounter('lock.skipped', {
      description: "Calls that `onTimeout: 'skip'` skipped.",
      unit: '{call}',
    }),
    once: meter.createCounter('lock.once', {
      description: 'Calls of `once` that ran, or received the result of another run.',
      unit: '{call}',
    }),
    held: meter.createObservableUpDownCounter('locks.held', {
      description: 'Holds of this process.',
      unit: '{hold}',
    }),
    oldestHold: meter.createObservableGauge('locks.oldest_hold.age', {
      description: 'Age of the oldest hold of this process; 0 without holds.',
      unit: 's',
    }),
  };
}
