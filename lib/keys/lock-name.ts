import { LockKeyError } from '../errors/lock-key.error.js';
import { CONTROL_CHARACTER, UNPRINTABLE } from '../primitives/characters.js';

/** The longest lock name, in bytes of UTF-8. */
const MAX_NAME_BYTES = 512;

const ALLOWED = `a lock name is 1 to ${MAX_NAME_BYTES} bytes of UTF-8 without control characters, and does not start with "}"`;

/** A UTF-16 unit is at most three bytes of UTF-8. */
const SURELY_SHORT = Math.floor(MAX_NAME_BYTES / 3);

/** The name that was checked last and may be locked. */
let lastFit: unknown = 'any';

/** What keeps a value from being a lock name, as the end of a sentence; undefined where it is one. */
export function lockNameProblem(name: unknown): string | undefined {
  const problem = problemOf(name);
  return problem === undefined ? undefined : `${problem}; ${ALLOWED}`;
}

/**
 * Checks that a value may be locked by that name.
 *
 * Control characters would garble logs and `MONITOR`, a lone surrogate has no UTF-8 form (two of them would become one name),
 * and a leading `}` would end the Redis Cluster hash tag that is put around the name before it began.
 *
 * @throws LockKeyError saying what is wrong and what is allowed; the name itself is not repeated, for it may be personal.
 * @example
 * ```ts
 * assertLockName('order:42');
 * ```
 */
export function assertLockName(name: unknown): asserts name is string {
  // Whoever contends asks for the same name again and again.
  if (name === lastFit) return;
  const problem = lockNameProblem(name);
  if (problem !== undefined) throw new LockKeyError(`Lock name ${problem}.`);
  lastFit = name;
}

function problemOf(name: unknown): string | undefined {
  if (typeof name !== 'string')
    return `is not a string but ${name === null ? 'null' : `of type ${typeof name}`}`;
  if (name === '') return 'is empty';
  if (name.startsWith('}')) return 'starts with "}"';
  if (UNPRINTABLE.test(name))
    return CONTROL_CHARACTER.test(name)
      ? 'contains a control character'
      : 'contains a lone surrogate, which is not valid Unicode';
  if (name.length <= SURELY_SHORT) return undefined;
  const bytes = Buffer.byteLength(name);
  return bytes > MAX_NAME_BYTES ? `is ${bytes} bytes long` : undefined;
}
