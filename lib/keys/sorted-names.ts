import { LockKeyError } from '../errors/lock.error.js';

/** Sorts names: all callers acquire several names in this order, so that no two of them wait for each other. */
export function sortedNames(names: readonly string[]): string[] {
  // Most callers pass sorted names.
  const isInOrder = names.every((name, i) => i === 0 || (names[i - 1] ?? '') < name);
  return isInOrder ? [...names] : [...new Set(names)].toSorted();
}

/** Rejects a call with too many names: each costs Redis and this process time and memory. */
export function assertNameCount(names: readonly string[], most: number, caller: string): void {
  if (names.length <= most) return;
  throw new LockKeyError(
    `${caller} names ${names.length} locks, and advanced.maxNames is ${most}. Check the length of what comes from outside, ` +
      'take fewer at once, or set it in forRoot().',
  );
}
