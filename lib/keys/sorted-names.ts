import { LockKeyError } from '../errors/lock-key.error.js';

/** Every caller takes several names in this one order, so that no two of them can wait for each other. */
export function sortedNames(names: readonly string[]): string[] {
  // As most callers have them already.
  const isInOrder = names.every((name, i) => i === 0 || (names[i - 1] ?? '') < name);
  return isInOrder ? [...names] : [...new Set(names)].toSorted();
}

/** Refuses a call that names more locks than it may: each costs Redis and this process time and memory. */
export function assertNameCount(names: readonly string[], most: number, caller: string): void {
  if (names.length <= most) return;
  throw new LockKeyError(
    `${caller} names ${names.length} locks, and advanced.maxNames is ${most}. Check the length of what comes from outside, ` +
      'take fewer at once, or set it in forRoot().',
  );
}
