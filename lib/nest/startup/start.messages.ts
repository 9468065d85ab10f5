import type { LockedMethod } from '../locked/locked-method.js';
import type { OtherCopy } from '../locked/locked-options.js';

/** The warnings about locked methods that can never work. */

type Decorated = Pick<LockedMethod, 'name' | 'decorator' | 'module'>;

export const scheduledOnNonStatic = (method: string): string =>
  `${method} is a scheduled job of a provider that is not static (request-scoped, transient, or injects one that is), ` +
  'so @nestjs/schedule never runs it. Move it to a provider with the default scope.';

export const lockedOverridden = (override: string, { name, decorator }: Decorated): string =>
  `${override} is not ${decorator}, but overrides ${name}, which is: decorators are not inherited, so it runs without a lock. ` +
  `Put ${decorator} on the override as well.`;

export const lockedHidden = (field: string, { name, decorator }: Decorated): string =>
  `${field} is a field that hides ${name}, which is ${decorator}. Unless the field calls that method, its calls run ` +
  `without a lock. Write it as a method with ${decorator}: async name() { … }. If it calls that method, rename the field.`;

export const interceptorIgnored = (method: string, kind: string): string =>
  `${method} has interceptors, but Nest runs none for ${kind}. Move their work into the method, ` +
  'or into a decorator around it. The lock is released when the method ends.';

export const wrapperAround = ({ name, decorator }: Decorated): string =>
  `A decorator above ${decorator} wraps ${name}, and seems to open a transaction, as @Transactional() does. Such a transaction ` +
  `commits after the release, and the next holder reads the old rows. Put ${decorator} above it.`;

export const moduleMissing = ({ name, decorator, module }: Decorated): string =>
  module === undefined
    ? `${name} is ${decorator} without the option module, but each RedisLockModule has a name, so its calls will fail. ` +
      'Set module to one of the names.'
    : `${name} is ${decorator} with module '${module}', but no RedisLockModule has that name, so its calls ` +
      `will fail. Import RedisLockModule.forRoot({ name: '${module}', … }).`;

export const lockedByOtherCopy = (method: string, own: string, other: OtherCopy): string =>
  `${method} is ${other.decorator} by another copy of nest-redis-lock, so its calls will find no LockService. RedisLockModule comes ` +
  `from ${own}, the decorator from ${other.folder}. Install the package once: npm ls nest-redis-lock names who installs it.`;

export const currentLockWithoutLocked = (method: string): string =>
  `${method} has a @CurrentLock() parameter, but no @Locked or @Once, so it would never receive a lock. ` +
  'Put the decorator on the method, or remove the parameter. An override needs its own decorator.';

export const ttlTooShort = (owner: string, ttl: number, roundTrip: number): string =>
  `The ttl of ${owner}, ${ttl} ms, is shorter than three round trips to Redis, of ${roundTrip.toFixed(1)} ms each: leases ` +
  `will end before they are renewed. Use at least ${Math.ceil(3 * roundTrip)} ms, better ten times as much.`;

export const noShutdownHooks = (): string =>
  'This process has granted a lock, but does not listen for SIGTERM: when it is stopped, its locks stay taken until their ' +
  'leases end. Add app.enableShutdownHooks() to main.ts, before app.listen().';
