/** The warnings about locked methods that can never work. */

export const scheduledOnNonStatic = (method: string): string =>
  `${method} is a scheduled job of a provider that is not static (request-scoped, transient, or injects one that is), ` +
  'so @nestjs/schedule never runs it. Move it to a provider with the default scope.';

export const lockedOverridden = (override: string, locked: string): string =>
  `${override} is not @Locked, but overrides ${locked}, which is: decorators are not inherited, so it runs without a lock. ` +
  'Put @Locked on the override as well.';

export const lockedHidden = (field: string, locked: string): string =>
  `${field} is a field that hides ${locked}, which is @Locked. Unless the field calls that method, its calls run ` +
  'without a lock. Write it as a method with @Locked: async name() { … }. If it calls that method, rename the field.';

export const interceptorIgnored = (method: string, place: string): string =>
  `${method} has interceptors, but Nest runs none for ${place}. Move their work into the method, ` +
  'or into a decorator around it. The lock is released when the method ends.';

export const wrapperAround = (method: string): string =>
  `A decorator above @Locked wraps ${method}, and seems to open a transaction, as @Transactional() does. Such a transaction ` +
  'commits after the release, and the next holder reads the old rows. Put @Locked above it.';

export const moduleMissing = (method: string, module: string): string =>
  `${method} is @Locked with module '${module}', but no RedisLockModule has that name, so its calls ` +
  `will fail. Import RedisLockModule.forRoot({ name: '${module}', … }).`;

export const lockedByOtherCopy = (method: string, own: string, other: string): string =>
  `${method} is @Locked by another copy of nest-redis-lock, so its calls will find no LockService. RedisLockModule comes ` +
  `from ${own}, the decorator from ${other}. Install the package once: npm ls nest-redis-lock names who installs it.`;

export const currentLockWithoutLocked = (method: string): string =>
  `${method} has a @CurrentLock() parameter, but no @Locked, so it would never receive a lock. ` +
  'Put @Locked on the method, or remove the parameter. An override needs its own @Locked.';

export const ttlTooShort = (owner: string, ttl: number, roundTrip: number): string =>
  `The ttl of ${owner}, ${ttl} ms, is shorter than three round trips to Redis, of ${roundTrip.toFixed(1)} ms each: leases ` +
  `will end before they are renewed. Use at least ${Math.ceil(3 * roundTrip)} ms, better ten times as much.`;

export const noShutdownHooks = (): string =>
  'This process has granted a lock, but does not listen for SIGTERM: when it is stopped, its locks stay taken until their ' +
  'leases end. Add app.enableShutdownHooks() to main.ts, before app.listen().';
