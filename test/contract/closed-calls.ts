import type { LockError } from '../../lib/errors/lock.error.js';
import type { LockService } from '../../lib/service/lock.service.js';
import { listed } from '../support/listed.js';
import type { Capabilities } from './lock-backend.js';

/** What each call says that comes after the end. */
export const CLOSED =
  /^LOCK_CLOSED: The application is shutting down and .* Repeat the call on another instance/;

/**
 * How each call about a name settles, by the name of the call: `resolved`, or the code and the message of its error.
 * Calls that the store refuses anyway are left out.
 */
export async function outcomesOf(
  locks: LockService,
  name: string,
  { detaches, keeps, lists }: Pick<Capabilities, 'detaches' | 'keeps' | 'lists'>,
  transfer?: string,
): Promise<Record<string, string>> {
  const calls: Record<string, () => Promise<unknown>> = {
    acquire: () => locks.acquire(name),
    'acquire, several names': () => locks.acquire([name, `${name}+`]),
    tryAcquire: () => locks.tryAcquire(name),
    using: () => locks.using(name, () => 'worked'),
    query: () => locks.query(name),
    forceRelease: () => locks.forceRelease(name),
    'forceRelease, of owners': () => locks.forceRelease(name, { owners: ['nobody'] }),
    'health check': async () => {
      const { trouble } = await locks.checkHealth(1_000);
      if (trouble) throw trouble;
    },
    ...(lists && { list: () => listed(locks) }),
    ...(keeps && {
      once: () => locks.once(name, { keep: 1_000 }, () => 'worked'),
      forget: () => locks.forget(name),
    }),
    ...(detaches && transfer !== undefined && { attach: () => locks.attach(transfer) }),
  };
  const outcomes = Object.entries(calls).map(async ([call, make]) => [
    call,
    await make().then(
      () => 'resolved',
      ({ code, message }: LockError) => `${code}: ${message}`,
    ),
  ]);
  return Object.fromEntries(await Promise.all(outcomes)) as Record<string, string>;
}
