import { LockConfigError } from '../../errors/lock.error.js';
import type { Lock } from '../../engine/hold/lock.interface.js';
import { assertInstanceMember } from './instance-member.js';

const CURRENT_LOCK_INDEXES = Symbol('nest-redis-lock:current-lock');

/**
 * Passes the {@link Lock} of a call to a parameter of its `@Locked` or `@Once` method. Callers omit the argument, and
 * Nest's pipes do not see it. Import `Lock` as a type: `import { CurrentLock, Locked, type Lock } from 'nest-redis-lock';`
 *
 * An example: `@Locked('cleanup') async cleanUp(@CurrentLock() lock?: Lock): Promise<void> { … }`
 */
export function CurrentLock(): ParameterDecorator {
  return (target, propertyKey, index) => {
    assertInstanceMember('@CurrentLock()', 'a parameter of a @Locked or @Once method', target, propertyKey);
    if (propertyKey === undefined || typeof index !== 'number') {
      throw new LockConfigError(
        `@CurrentLock() is for a parameter of a @Locked or @Once method, but decorates ${String(propertyKey)} itself.`,
      );
    }
    const indexes = [...currentLockIndexes(target, propertyKey), index];
    Reflect.defineMetadata(CURRENT_LOCK_INDEXES, indexes, target, propertyKey);
  };
}

/** The positions of a method's `@CurrentLock()` parameters. */
export function currentLockIndexes(target: object, propertyKey: string | symbol): readonly number[] {
  return Reflect.getOwnMetadata(CURRENT_LOCK_INDEXES, target, propertyKey) ?? [];
}

/** Returns the arguments with the lock in the given positions. */
export function withCurrentLock(
  args: readonly unknown[],
  indexes: readonly number[],
  lock: Lock,
): readonly unknown[] {
  if (indexes.length === 0) return args;
  const filled = [...args];
  for (const index of indexes) filled[index] = lock;
  return filled;
}
