import { isGeneratorObject } from 'node:util/types';
import type { Observable } from 'rxjs';
import type { Lock } from '../../engine/hold/lock.interface.js';
import { LockConfigError } from '../../errors/lock.error.js';
import { tryTo } from '../../primitives/try-to.js';

/** Whether a value is an Observable, as rxjs tells it: the command line loads no rxjs. False if its properties throw. */
export function isStream(value: unknown): value is Observable<unknown> {
  const isObservable = (): boolean => {
    const { lift, subscribe } = Object(value) as Partial<Record<'lift' | 'subscribe', unknown>>;
    return typeof lift === 'function' && typeof subscribe === 'function';
  };
  return tryTo(isObservable) === true;
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
