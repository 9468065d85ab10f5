import { LockKeyError } from '../errors/lock.error.js';
import { CONTROL_CHARACTER, fitsIn, UNPRINTABLE } from '../primitives/characters.js';
import { describeValue, readForKey } from './key-part.js';

/** The longest lock name, in bytes of UTF-8. */
const MAX_NAME_BYTES = 512;

const ALLOWED = `a lock name is 1 to ${MAX_NAME_BYTES} bytes of UTF-8 without control characters, and does not start with "}"`;

/** The last valid name. */
let lastFit: unknown = 'any';

/** Why a value is not a lock name, as the end of a sentence; undefined for a valid name. */
export function lockNameProblem(name: unknown): string | undefined {
  const problem = problemOf(name);
  return problem === undefined ? undefined : `${problem}; ${ALLOWED}`;
}

/**
 * Checks that a value is a lock name.
 *
 * Control characters would garble logs and `MONITOR`. A lone surrogate has no UTF-8 form, so two of them would become
 * one name. A leading `}` would end the Redis Cluster hash tag around the name.
 *
 * @param what the name in the message.
 * @throws LockKeyError that names the problem and the rule, but not the name, which may be personal.
 * @example
 * ```ts
 * assertLockName('order:42');
 * ```
 */
export function assertLockName(name: unknown, what = 'Lock name'): asserts name is string {
  // Contending callers request the same name repeatedly.
  if (name === lastFit) return;
  const problem = lockNameProblem(name);
  if (problem !== undefined) throw new LockKeyError(`${what} ${problem}.`);
  lastFit = name;
}

function problemOf(name: unknown): string | undefined {
  if (typeof name !== 'string') return `is not a string but ${describeValue(name)}`;
  if (name === '') return 'is empty';
  if (name.startsWith('}')) return 'starts with "}"';
  if (UNPRINTABLE.test(name))
    return CONTROL_CHARACTER.test(name)
      ? 'contains a control character'
      : 'contains a lone surrogate, which is not valid Unicode';
  return fitsIn(MAX_NAME_BYTES, name) ? undefined : `is ${Buffer.byteLength(name)} bytes long`;
}

/** Sorts names: all callers acquire several names in this order, so that no two of them wait for each other. */
export function sortedNames(names: readonly string[]): string[] {
  // Most callers pass sorted names.
  const isInOrder = names.every((name, i) => i === 0 || (names[i - 1] ?? '') < name);
  return isInOrder ? [...names] : [...new Set(names)].toSorted();
}

/** The names of a call, sorted and without repeats. */
export type LockNames = readonly [string, ...string[]];

/**
 * Returns the names of a call, given as a name or as a list.
 *
 * @param what a name in messages.
 * @throws LockKeyError for an invalid name, an empty list, and any other value.
 */
export function lockNamesOf(given: unknown, what = 'Lock name'): LockNames {
  // Most calls have one name, and take it without a list.
  if (typeof given === 'string') {
    assertLockName(given, what);
    return [given];
  }
  const list = readForKey(what, () => (Array.isArray(given) ? Array.from<unknown>(given) : [given]));
  const [first, ...others] = sortedNames(
    list.map((name) => {
      assertLockName(name, what);
      return name;
    }),
  );
  if (first === undefined) throw new LockKeyError(`${what} is missing, because the list is empty.`);
  return [first, ...others];
}

/** Names of one call: each costs Redis and this process time and memory, and the input of a request may list many. */
export const MAX_NAMES = 256;

/** Rejects a call with too many names. */
export function assertNameCount(names: readonly string[], caller: string): void {
  if (names.length <= MAX_NAMES) return;
  throw new LockKeyError(
    `${caller} names ${names.length} locks, and one call takes at most ${MAX_NAMES}. ` +
      'Limit the number of names in requests, or use several calls.',
  );
}
