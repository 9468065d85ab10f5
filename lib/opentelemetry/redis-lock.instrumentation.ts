import { type MeterProvider, metrics, trace, type TracerProvider } from '@opentelemetry/api';
import { listenToLocks } from '../diagnostics/lock-channel.js';
import { LockMetrics } from './lock-metrics.js';
import { LockSpans } from './lock-spans.js';
import { NAME, VERSION } from './lock-attributes.js';

/** Options of {@link RedisLockInstrumentation}. */
export interface RedisLockInstrumentationConfig {
  /** Whether the instrumentation starts at once. Default true. */
  enabled?: boolean;
  /**
   * Adds the lock name to spans and metrics as `lock.name`. Default false: each name such as `order:<id>` would create
   * a time series, and may contain data that a telemetry system should not have.
   */
  lockNames?: boolean;
}

/**
 * Converts the messages of the diagnostics channels into spans and metrics of OpenTelemetry. Spans: `lock.acquire` and
 * `lock.hold`. Metrics: `lock.wait.duration`, `lock.hold.duration`, `lock.lost`, `lock.queue.length`,
 * `lock.renewal.lag`, `lock.skipped`, `lock.once`, `locks.held` and `locks.oldest_hold.age`. It implements the interface of an
 * OpenTelemetry instrumentation and covers every LockService of the process.
 *
 * @example
 * ```ts
 * new NodeSDK({ instrumentations: [new RedisLockInstrumentation()] }).start();
 * ```
 */
export class RedisLockInstrumentation {
  readonly instrumentationName = NAME;
  readonly instrumentationVersion = VERSION;
  private tracerProvider: TracerProvider | undefined;
  private meterProvider: MeterProvider | undefined;
  private stopListening: (() => void)[] = [];
  private readonly spans = new LockSpans(
    () => (this.tracerProvider ?? trace).getTracer(NAME, VERSION),
    () => this.config.lockNames === true,
  );
  private readonly metrics = new LockMetrics(
    () => this.meterProvider ?? metrics.getMeterProvider(),
    () => this.config.lockNames === true,
  );

  constructor(private config: RedisLockInstrumentationConfig = {}) {
    if (config.enabled !== false) this.enable();
  }

  /** Starts recording; has no effect if it has already started. */
  enable(): void {
    if (this.stopListening.length > 0) return;
    this.stopListening = [this.spans.listeners, this.metrics.listeners].map(listenToLocks);
  }

  disable(): void {
    for (const stop of this.stopListening) stop();
    this.stopListening = [];
    this.metrics.stop();
  }

  /** Used in place of the global provider. */
  setTracerProvider(provider: TracerProvider): void {
    this.tracerProvider = provider;
  }

  /** Used in place of the global provider. */
  setMeterProvider(provider: MeterProvider): void {
    this.meterProvider = provider;
  }

  getConfig(): RedisLockInstrumentationConfig {
    return this.config;
  }

  /** Replaces the options; `enabled` has an effect only in the constructor. */
  setConfig(config: RedisLockInstrumentationConfig): void {
    this.config = config;
  }
}
