import type { Attributes } from '@opentelemetry/api';
import type { LockAcquire } from '../diagnostics/lock-events.interface.js';
import { isLockError } from '../errors/lock.error.js';

/** The instrumentation scope of all spans and metrics. */
export const NAME = 'nest-redis-lock';
/** The version of this package. */
export const VERSION = '0.1.0';

/** Attributes of a call: method and template, which are few, and the lock name only on request. */
export function attributesOf(
  { name, method, template }: Pick<LockAcquire, 'name' | 'method' | 'template'>,
  withName: boolean,
): Readonly<Record<string, string>> {
  return {
    ...(method === undefined ? {} : { 'code.function.name': method }),
    ...(template === undefined ? {} : { 'lock.key.template': template }),
    ...(withName ? { 'lock.name': name } : {}),
  };
}

/** The error type as an attribute with few values. */
export function errorType(error: unknown): Attributes {
  return { 'error.type': isLockError(error) ? error.code : nameOf(error) };
}

/** Checks the shape: the reason of a caller's signal may come from another realm. */
function nameOf(error: unknown): string {
  const name: unknown =
    typeof error === 'object' && error !== null && 'name' in error ? error.name : undefined;
  return typeof name === 'string' ? name : '_OTHER';
}
