import { LockConfigError } from '../errors/lock-config.error.js';
import { closestName } from './closest-name.js';

/** The longest delay that a Node timer takes; a longer one would fire at once. */
const LONGEST_DELAY = 2_147_483_647;

/** Throws LockConfigError: `option` must be what `allowed` says, and `value` is not. */
export function refuseOption(option: string, value: unknown, allowed: string): never {
  throw new LockConfigError(`${option} must be ${allowed}, but is ${printableValue(value)}.`);
}

/** Refuses a value that an option cannot have. */
export interface OptionCheck {
  (option: string, value: unknown): void;
  /** Of an option that is an object of options: their names. */
  readonly below?: readonly string[];
}

/** What options an object may have, and what is checked of each. */
export type OptionChecks = ReadonlyMap<string, OptionCheck>;

export function optionChecks(checks: Readonly<Record<string, OptionCheck>>): OptionChecks {
  return new Map(Object.entries(checks));
}

/** The check of an option that is an object of options. */
export function optionsBelow(checks: OptionChecks): OptionCheck {
  const check: OptionCheck = (option, value) => assertOptions(option, value, checks, `${option}.`);
  return Object.assign(check, { below: [...checks.keys()] });
}

/** Refuses an object with unknown options, or with values that cannot be; `path` stands before their names, as in `handoff.`. */
export function assertOptions(
  what: string,
  options: unknown,
  checks: OptionChecks,
  path = '',
): asserts options is object {
  assertOptionsObject(what, options);
  // Not Object.keys, nor each of the checks: this runs at each acquire and should cost nothing.
  for (const name in options) {
    const check = checks.get(name) ?? refuseUnknownOption(name, checks, path);
    const value: unknown = options[name as never];
    if (value !== undefined) check(path === '' ? name : path + name, value);
  }
  if (options.constructor !== Object) assertAccessors(options, checks, path);
}

/** Those of a class are not enumerable. */
function assertAccessors(options: object, checks: OptionChecks, path: string): void {
  for (const [name, check] of checks) {
    const value: unknown = Reflect.get(options, name);
    if (value !== undefined) check(path + name, value);
  }
}

/** Fills in what was left out. */
export function withDefaults<T extends object>(defaults: T, options: object): T {
  const filled = Object.entries(defaults).map(([name, value]) => [name, Reflect.get(options, name) ?? value]);
  return Object.fromEntries(filled) as T;
}

function refuseUnknownOption(name: string, checks: OptionChecks, path: string): never {
  const names = [...checks.keys()];
  const closest = closestName(name, names) ?? optionBelow(name, checks);
  const hint =
    closest === undefined
      ? `Known here: ${names.map((each) => path + each).join(', ')}.`
      : `Did you mean ${path}${closest}?`;
  throw new LockConfigError(`There is no option ${path}${name}. ${hint}`);
}

/** An option that is known, but not here: below another one. */
function optionBelow(name: string, checks: OptionChecks): string | undefined {
  for (const [parent, { below = [] }] of checks) {
    const closest = closestName(name, below);
    if (closest !== undefined) return `${parent}.${closest}`;
  }
  return undefined;
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
export function milliseconds(range: MillisecondRange): OptionCheck {
  return (option, value) => {
    if (isMilliseconds(value, range)) return;
    const kind = range.whole === true ? 'a whole number of milliseconds' : 'a number of milliseconds';
    const end = range.infinite === true ? ', or Infinity' : '';
    refuseOption(option, value, `${kind} from ${range.min} to ${LONGEST_DELAY}${end}`);
  };
}

/** Refuses what is not a whole number from `min` to `max`. */
export function wholeNumber(min: number, max = Number.MAX_SAFE_INTEGER): OptionCheck {
  return (option, value) => {
    if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return;
    const range = max === Number.MAX_SAFE_INTEGER ? `${min} or more` : `from ${min} to ${max}`;
    refuseOption(option, value, `a whole number, ${range}`);
  };
}

/** Refuses what is none of some values. */
export function oneOf(...values: readonly (string | boolean)[]): OptionCheck {
  const allowed = values.map((value) => (typeof value === 'string' ? `'${value}'` : value)).join(' or ');
  return (option, value) => {
    if (!values.includes(value as string)) refuseOption(option, value, allowed);
  };
}

/** Refuses what is not an object of options. */
export function assertOptionsObject(
  option: string,
  value: unknown,
  allowed = 'an object',
): asserts value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    refuseOption(option, value, allowed);
  }
}

const LONGEST = 80;

/** How a refused option value appears in an error: short, on one line, without what it may contain. */
export function printableValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(shorten(value));
  if (typeof value === 'function') return `a function`;
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === 'object' && value !== null)
    return `an object (${value.constructor?.name ?? 'no class'})`;
  return String(value);
}

function shorten(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
