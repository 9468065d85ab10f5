import { LockConfigError } from '../errors/lock-config.error.js';
import { closestName } from './closest-name.js';
import { printableValue } from './printable-value.js';

/** The longest delay that a Node timer takes; a longer one would fire at once. */
const LONGEST_DELAY = 2_147_483_647;

/** Throws LockConfigError: `option` must be what `allowed` says, and `value` is not. */
export function refuseOption(option: string, value: unknown, allowed: string): never {
  throw new LockConfigError(`${option} must be ${allowed}, but is ${printableValue(value)}.`);
}

/** Refuses an object that has a property beside the `known` ones; `path` stands before its name, as in `handoff.`. */
export function assertKnownOptions(options: object, known: ReadonlySet<string>, path = ''): void {
  // Not Object.keys: this runs at each acquire and should allocate nothing.
  for (const name in options) {
    if (!known.has(name)) refuseUnknownOption(name, known, path);
  }
}

function refuseUnknownOption(name: string, known: ReadonlySet<string>, path: string): never {
  const names = [...known];
  const closest = closestName(name, names);
  const hint =
    closest === undefined
      ? `Known here: ${names.map((each) => path + each).join(', ')}.`
      : `Did you mean ${path}${closest}?`;
  throw new LockConfigError(`There is no option ${path}${name}. ${hint}`);
}

/** What {@link isMilliseconds} lets pass. */
export interface MillisecondRange {
  min: number;
  /** Redis counts leases in whole milliseconds; what only a local timer sees may have a fraction. */
  whole?: boolean;
  infinite?: boolean;
}

/** Whether something is a time in milliseconds within `range`. */
export function isMilliseconds(value: unknown, range: MillisecondRange): value is number {
  if (range.infinite === true && value === Infinity) return true;
  const inRange = typeof value === 'number' && value >= range.min && value <= LONGEST_DELAY;
  return inRange && (range.whole !== true || Number.isInteger(value));
}

/** Refuses what is not a time in milliseconds within `range`. */
export function assertMilliseconds(option: string, value: unknown, range: MillisecondRange): void {
  if (isMilliseconds(value, range)) return;
  const kind = range.whole === true ? 'a whole number of milliseconds' : 'a number of milliseconds';
  const end = range.infinite === true ? ', or Infinity' : '';
  refuseOption(option, value, `${kind} from ${range.min} to ${LONGEST_DELAY}${end}`);
}

/** Refuses what is not a whole number from `min` to `max`. */
export function assertWholeNumber(
  option: string,
  value: unknown,
  min: number,
  max = Number.MAX_SAFE_INTEGER,
): void {
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return;
  const range = max === Number.MAX_SAFE_INTEGER ? `${min} or more` : `from ${min} to ${max}`;
  refuseOption(option, value, `a whole number, ${range}`);
}

/** Refuses what is neither true nor false. */
export function assertBoolean(option: string, value: unknown): void {
  if (typeof value !== 'boolean') refuseOption(option, value, 'true or false');
}

/** Refuses what is not an object of options. */
export function assertOptionsObject(option: string, value: unknown): asserts value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    refuseOption(option, value, 'an object');
  }
}
