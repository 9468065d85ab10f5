import { context, type Context, type Span, SpanStatusCode, type Tracer } from '@opentelemetry/api';
import type { LockListeners } from '../diagnostics/lock-channel.js';
import type { LockAcquire } from '../diagnostics/lock-events.interface.js';
import { messageOf } from '../primitives/message-of.js';
import { attributesOf, errorType } from './lock-attributes.js';

interface CallSpans {
  readonly caller: Context;
  readonly wait: Span;
  hold: Span | undefined;
}

/** Records two spans for each call, both children of the caller's span: one for the wait, one for the hold. */
export class LockSpans {
  private readonly spans = new WeakMap<LockAcquire, CallSpans>();

  constructor(
    private readonly currentTracer: () => Tracer,
    private readonly withNames: () => boolean,
  ) {}

  readonly listeners: LockListeners = {
    'nest-redis-lock:acquire:start': ({ acquire }) => {
      const caller = context.active();
      const attributes = attributesOf(acquire, this.withNames());
      const wait = this.currentTracer().startSpan('lock.acquire', { attributes }, caller);
      this.spans.set(acquire, { caller, wait, hold: undefined });
    },
    'nest-redis-lock:acquire:granted': ({ acquire, how, fencingToken }) => {
      const spans = this.spans.get(acquire);
      if (spans === undefined) return;
      spans.wait.setAttributes({ 'lock.outcome': 'granted', 'lock.granted.how': how }).end();
      const attributes = { ...attributesOf(acquire, this.withNames()), 'lock.fencing_token': fencingToken };
      spans.hold = this.currentTracer().startSpan('lock.hold', { attributes }, spans.caller);
    },
    // Contention does not mark the span as failed: only the caller knows whether it is an error.
    'nest-redis-lock:acquire:timeout': ({ acquire }) => {
      this.spans.get(acquire)?.wait.setAttribute('lock.outcome', 'timeout').end();
    },
    'nest-redis-lock:acquire:shared': ({ acquire }) => {
      this.spans.get(acquire)?.wait.setAttribute('lock.outcome', 'shared').end();
    },
    'nest-redis-lock:acquire:failed': ({ acquire, error }) => {
      const message = messageOf(error);
      this.spans
        .get(acquire)
        ?.wait.setAttributes({ 'lock.outcome': 'failed', ...errorType(error) })
        .setStatus({ code: SpanStatusCode.ERROR, message })
        .end();
    },
    'nest-redis-lock:hold:released': ({ acquire }) => {
      this.spans.get(acquire)?.hold?.end();
    },
    'nest-redis-lock:hold:lost': ({ acquire, reason }) => {
      this.spans
        .get(acquire)
        ?.hold?.setAttributes({ 'lock.lost.reason': reason, 'error.type': 'LOCK_LOST' })
        .setStatus({ code: SpanStatusCode.ERROR, message: `The hold was lost: ${reason}` })
        .end();
    },
  };
}
