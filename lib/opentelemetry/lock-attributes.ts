import type { Attributes } from '@opentelemetry/api';
import type { LockAcquire } from '../diagnostics/lock-events.interface.js';
import { isLockError } from '../errors/lock.error.js';

/** The instrumentation scope under which everything is recorded. */
export const NAME = 'nest-redis-lock';
/** Of this package. */
export const VERSION = '0.1.0';

/** Describes a call: by its method and template, of which there are few, and by its name only where that is wanted. */
export function attributesOf(
  { name, method, template }: LockAcquire,
  withName: boolean,
): Readonly<Record<string, string>> {
  return {
    ...(method === undefined ? {} : { 'code.function.name': method }),
    ...(template === undefined ? {} : { 'lock.key.template': template }),
    ...(withName ? { 'lock.name': name } : {}),
  };
}

/** The kind of an error, of which there are few. */
export function errorType(error: unknown): Attributes {
  return { 'error.type': isLockError(error) ? error.code : nameOf(error) };
}

/** By its shape: the reason of a caller's signal may come from another realm. */
function nameOf(error: unknown): string {
  const name: unknown =
    typeof error === 'object' && error !== null && 'name' in error ? error.name : undefined;
  return typeof name === 'string' ? name : '_OTHER';
}
