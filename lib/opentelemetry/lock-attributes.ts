import type { Attributes } from '@opentelemetry/api';
import type { LockAcquire } from '../diagnostics/lock-events.interface.js';
import { isLockError } from '../errors/lock.error.js';

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
  const type = isLockError(error) ? error.code : error instanceof Error ? error.name : '_OTHER';
  return { 'error.type': type };
}
