import { isGeneratorObject } from 'node:util/types';
import { isObservable, type Observable } from 'rxjs';
import type { Lock } from '../engine/hold/lock.interface.js';
import { LockConfigError } from '../errors/lock.error.js';
import { tryTo } from '../primitives/try-to.js';

/** Whether a value is an Observable. False for a value whose properties throw. */
export function isStream(value: unknown): value is Observable<unknown> {
  return tryTo(() => isObservable(value)) === true;
}

/**
 * Rejects a result of work that would run after the release of its lock.
 *
 * @throws LockConfigError that says how to run it under the lock.
 */
export function assertNotLate({ keys }: Lock, result: unknown): void {
  const kind = isStream(result) ? 'an Observable' : isGeneratorObject(result) && 'a generator';
  if (kind === false) return;
  throw new LockConfigError(
    `The work under ${keys.join(', ')} returned ${kind}, which runs only when it is read, after the release of the lock. ` +
      'Read it to its end in the work: an Observable by lastValueFrom(), a generator by a loop.',
    { keys },
  );
}
