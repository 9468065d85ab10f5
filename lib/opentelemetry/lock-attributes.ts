import type { Attributes } from '@opentelemetry/api';
import type { LockAcquire } from '../diagnostics/lock-events.interface.js';
import { isLockError } from '../errors/lock.error.js';
import { tryTo } from '../primitives/try-to.js';

/** The instrumentation scope of all spans and metrics. */
export const NAME = 'nest-redis-lock';
/** The version of this package. */
export const VERSION = '0.1.0';

/** The value of an attribute in place of all values that are not listed. */
const OTHER = '_OTHER';

/** The call of a message. A skipped method has no label of its own. */
export type ObservedCall = Pick<LockAcquire, 'name' | 'method' | 'template'> &
  Partial<Pick<LockAcquire, 'label'>>;

/**
 * Attributes of a call: the method and its template, or the label of a caller of LockService. The lock name only on
 * request.
 */
export function attributesOf(
  { name, method, template, label }: ObservedCall,
  withName: boolean,
): Readonly<Record<string, string>> {
  return {
    ...(method === undefined ? {} : { 'code.function.name': method }),
    ...(template === undefined ? {} : { 'lock.key.template': template }),
    ...(label === undefined || method !== undefined ? {} : { 'lock.label': label }),
    ...(withName ? { 'lock.name': name } : {}),
  };
}

/** Number of labels in metrics. Each creates time series, and applications may write ids into labels. */
const MAX_LABELS = 50;

/** Keeps the first labels, and replaces further ones. */
export class BoundedLabels {
  private readonly kept = new Set<string>();

  replace({ label, ...call }: ObservedCall): ObservedCall {
    if (label === undefined || call.method !== undefined) return call;
    if (this.kept.size < MAX_LABELS) this.kept.add(label);
    return { ...call, label: this.kept.has(label) ? label : OTHER };
  }
}

/** The error type as an attribute with few values. */
export function errorType(error: unknown): Attributes {
  return { 'error.type': isLockError(error) ? error.code : nameOf(error) };
}

/** Checks the shape: the reason of a caller's signal may come from another realm. */
function nameOf(error: unknown): string {
  const name: unknown = tryTo(() => (typeof error === 'object' ? (error as Error | null)?.name : undefined));
  return typeof name === 'string' ? name : OTHER;
}
