/** The warnings at start about locked methods that can never work. */

export const scheduledOnNonStatic = (method: string): string =>
  `${method} is a scheduled job of a provider that is not static (request-scoped, transient, or injects one that is), ` +
  'so @nestjs/schedule never runs it. Move it to a provider with the default scope.';

export const lockedOverridden = (override: string, locked: string): string =>
  `${override} overrides ${locked}, which is @Locked, and is not: decorators are not inherited, so it runs without a lock. ` +
  'Put @Locked on the override, too.';

export const lockedHidden = (field: string, locked: string): string =>
  `${field} is a field that takes the place of ${locked}, which is @Locked: its calls run without a lock. ` +
  'Make it a method with @Locked, as in async name() { … }.';

export const interceptorIgnored = (method: string, place: string): string =>
  `${method} has interceptors, but Nest runs none for ${place}. Do what they do in the method, ` +
  'or in a decorator around it; the lock is released when the method has ended.';

export const wrapperAround = (method: string): string =>
  `Another decorator wraps ${method} from above its @Locked. If it opens a transaction, as @Transactional() does, that commits ` +
  'after the release, and the next holder reads the old rows. Put @Locked above it.';

export const moduleMissing = (method: string, module: string): string =>
  `${method} is @Locked with module '${module}', but no RedisLockModule has that name, so its calls ` +
  `will fail. Import RedisLockModule.forRoot({ name: '${module}', … }).`;

export const currentLockWithoutLocked = (method: string): string =>
  `${method} has a @CurrentLock() parameter, but no @Locked, so it would never get a lock. ` +
  'Put @Locked on the method, or remove the parameter. An override needs a @Locked of its own.';

export const ttlTooShort = (owner: string, ttl: number, roundTrip: number): string =>
  `The ttl of ${owner}, ${ttl} ms, is shorter than three round trips to Redis, of ${roundTrip.toFixed(1)} ms each: leases ` +
  `will end before they are renewed. Use at least ${Math.ceil(3 * roundTrip)} ms, better ten times as much.`;

export const routesGoThroughNest = (): string =>
  'This version of NestJS calls interceptors in a way that nest-redis-lock does not know. Locks work, but each HTTP request ' +
  'takes about 12 µs more CPU. Update nest-redis-lock, or set advanced.directInvocation to false, which ends this warning, too.';

export const noShutdownHooks = (): string =>
  'This process has granted a lock, but does not listen for SIGTERM: when it is stopped, its locks stay taken until their ' +
  'leases end. Add app.enableShutdownHooks() to main.ts, before app.listen().';
