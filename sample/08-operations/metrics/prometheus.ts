import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { registerInstrumentations } from '@opentelemetry/instrumentation';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { RedisLockInstrumentation } from 'nest-redis-lock/opentelemetry';

/** Without a server of its own: the application has one. */
export const prometheus = new PrometheusExporter({ preventServerStart: true });

/** Begins to measure; before the application starts, to miss nothing. */
export function startMetrics(): void {
  const meterProvider = new MeterProvider({ readers: [prometheus] });
  registerInstrumentations({ instrumentations: [new RedisLockInstrumentation()], meterProvider });
}
