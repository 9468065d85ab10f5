import type { ModulesContainer } from '@nestjs/core';
import { type LockListeners, listenToLocks } from '../../diagnostics/lock-channel.js';
import type { LockAcquire } from '../../diagnostics/lock-events.interface.js';
import { provided } from '../startup/provided-classes.js';

/** The part of the TracerService of NestJS Observe that this file uses. */
interface ObserveTracer {
  /** Null outside a trace of the tracer's application. */
  currentTraceId(): unknown;
  /** Ends the span when the returned Promise settles; a rejection marks it as failed. */
  createSpan(name: string, work: (span: ObserveSpan) => Promise<void>): Promise<unknown>;
}

interface ObserveSpan {
  addTags(tags: Tags): unknown;
}

type Tags = Readonly<Record<string, string | number>>;

/** By application, because each of its modules starts and stops the spans. */
const stops = new WeakMap<ModulesContainer, () => void>();

/** Records a span for each wait for a lock, if the application imports NestJS Observe. */
export function startObserveSpans(modules: ModulesContainer): void {
  const tracer = tracerOf(modules);
  if (tracer !== undefined && !stops.has(modules)) stops.set(modules, listenToLocks(listenersOf(tracer)));
}

export function stopObserveSpans(modules: ModulesContainer): void {
  stops.get(modules)?.();
  stops.delete(modules);
}

/** Found by the name of its class, because an import would add a dependency. */
function tracerOf(modules: ModulesContainer): ObserveTracer | undefined {
  for (const [token, { instance }] of provided(modules)) {
    if (typeof token !== 'function' || token.name !== 'TracerService') continue;
    const tracer = instance as Partial<ObserveTracer> | null | undefined;
    if (typeof tracer?.currentTraceId === 'function' && typeof tracer.createSpan === 'function')
      return instance;
  }
  return undefined;
}

/** A span that has begun; both functions end it. */
interface OpenSpan {
  readonly end: (tags: Tags) => void;
  readonly fail: (error: unknown) => void;
}

function listenersOf(tracer: ObserveTracer): LockListeners {
  const spans = new WeakMap<LockAcquire, OpenSpan>();
  const start = async (acquire: LockAcquire): Promise<void> => {
    if (typeof tracer.currentTraceId() !== 'string') return;
    const tags = new Promise<Tags>((end, fail) => spans.set(acquire, { end, fail }));
    await tracer.createSpan(nameOf(acquire), async (span) => void span.addTags(await tags));
  };
  return {
    // An error of the call belongs to its caller, who receives it from the call. One of the tracer, or of a mock of it,
    // must not end the process.
    'nest-redis-lock:acquire:start': ({ acquire }) => void start(acquire).catch(() => undefined),
    'nest-redis-lock:acquire:granted': ({ acquire, waited, how }) =>
      spans.get(acquire)?.end({ 'lock.outcome': 'granted', 'lock.wait': waited, 'lock.granted.how': how }),
    // Contention does not mark the span as failed: only the caller knows whether it is an error.
    'nest-redis-lock:acquire:timeout': ({ acquire, waited, holder }) =>
      spans.get(acquire)?.end({
        'lock.outcome': 'timeout',
        'lock.wait': waited,
        ...(holder?.owner === undefined ? {} : { 'lock.holder': holder.label ?? holder.owner }),
      }),
    'nest-redis-lock:acquire:shared': ({ acquire, waited }) =>
      spans.get(acquire)?.end({ 'lock.outcome': 'shared', 'lock.wait': waited }),
    'nest-redis-lock:acquire:failed': ({ acquire, error }) => spans.get(acquire)?.fail(error),
  };
}

/** Not the name of the lock, which differs for each order and may contain personal data. */
function nameOf({ template, label }: LockAcquire): string {
  return `lock ${template ?? label ?? ''}`.trimEnd();
}
