import type { ModulesContainer } from '@nestjs/core';
import { type LockListeners, listenToLocks } from '../../diagnostics/lock-channel.js';
import type { LockAcquire } from '../../diagnostics/lock-events.interface.js';
import { provided } from '../startup/provided-classes.js';

/** The part of the TracerService of NestJS Observe that this file uses. */
interface ObserveTracer {
  /** Null outside a trace of the tracer's application. */
  currentTraceId(): string | null;
  /** Ends the span when the returned Promise settles; a rejection marks it as failed. */
  createSpan(name: string, work: (span: ObserveSpan) => Promise<void>): Promise<unknown>;
}

interface ObserveSpan {
  addTags(tags: Readonly<Record<string, string | number>>): unknown;
}

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
    const { currentTraceId, createSpan } = instance as Partial<ObserveTracer>;
    if (typeof currentTraceId === 'function' && typeof createSpan === 'function') return instance;
  }
  return undefined;
}

/** A span that has begun; both functions end it. */
interface OpenSpan {
  readonly end: (tags: Parameters<ObserveSpan['addTags']>[0]) => void;
  readonly fail: (error: unknown) => void;
}

function listenersOf(tracer: ObserveTracer): LockListeners {
  const spans = new WeakMap<LockAcquire, OpenSpan>();
  return {
    'nest-redis-lock:acquire:start': ({ acquire }) => {
      if (tracer.currentTraceId() === null) return;
      const work = (span: ObserveSpan): Promise<void> =>
        new Promise((resolve, reject) => {
          const end: OpenSpan['end'] = (tags) => {
            span.addTags(tags);
            resolve();
          };
          spans.set(acquire, { end, fail: reject });
        });
      // The error belongs to the caller of the lock, who receives it from the call.
      tracer.createSpan(nameOf(acquire), work).catch(() => undefined);
    },
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
