import { isPromise } from 'node:util/types';
import { LockConfigError } from '../errors/lock.error.js';
import { redactedConnection } from './redacted-connection.js';
import { LONGEST_DELAY, parseDuration } from './duration.js';

/** Throws the LockConfigError for an option whose `value` is not among the `allowed` ones. */
export function refuseOption(option: string, value: unknown, allowed: string): never {
  throw new LockConfigError(`${option} must be ${allowed}, but is ${printableValue(value)}.`);
}

/** Throws a LockConfigError for an invalid value of an option. */
export interface OptionCheck {
  (option: string, value: unknown): void;
  /** The names of the options inside an option that is an object. */
  readonly below?: readonly string[];
}

/** The checks of a table by the names of its options. */
export type OptionChecks = ReadonlyMap<string, OptionCheck>;

/** What takes options of an acquire, besides the acquire itself. */
type Taker = 'preset' | 'module' | 'lead' | 'locked';

interface Option {
  readonly check: OptionCheck;
  /** The default; absent if omitting the option has a meaning of its own. */
  readonly initial?: unknown;
  /** What does not take this option of an acquire. */
  readonly except?: readonly Taker[];
}

/** The options that an object may have. */
export type OptionTable = Readonly<Record<string, Option>>;

/** Returns the checks of a table, without the options that `taker` does not take. */
export function checksOf(table: OptionTable, taker?: Taker): OptionChecks {
  const taken = Object.entries(table).filter(([, { except = [] }]) => !taker || !except.includes(taker));
  return new Map(taken.map(([name, { check }]) => [name, check]));
}

/** Creates the check of an option that is itself an object of options. */
export function optionsBelow(checks: OptionChecks): OptionCheck {
  const check: OptionCheck = (option, value) => assertOptions(option, value, checks, `${option}.`);
  return Object.assign(check, { below: [...checks.keys()] });
}

/**
 * Rejects an object with unknown options or invalid values. Messages put `path` before the names, such as `replicas.`.
 */
export function assertOptions(
  what: string,
  options: unknown,
  checks: OptionChecks,
  path = '',
): asserts options is object {
  assertOptionsObject(what, options);
  // Neither Object.keys nor a loop over all checks: this runs at each acquire and must be cheap.
  for (const name in options) {
    const check = checks.get(name) ?? refuseUnknownOption(name, checks, path);
    const value: unknown = options[name as never];
    if (value !== undefined) check(path === '' ? name : path + name, value);
  }
  if (options.constructor !== Object) assertAccessors(options, checks, path);
}

/** Checks getters of a class, which are not enumerable. */
function assertAccessors(options: object, checks: OptionChecks, path: string): void {
  for (const [name, check] of checks) {
    const value: unknown = Reflect.get(options, name);
    if (value !== undefined) check(path + name, value);
  }
}

/** Returns checked options with defaults for the omitted ones. Text in place of a number is a duration. */
export function withDefaults<T extends object>(defaults: T, options: object): T {
  const filled = Object.entries(defaults).map(([name, value]) => {
    const given: unknown = Reflect.get(options, name) ?? value;
    return [name, typeof value === 'number' && typeof given === 'string' ? parseDuration(given) : given];
  });
  return Object.fromEntries(filled) as T;
}

/** Names of options in other packages for locks, and the option here. Their spelling would suggest another one. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['timeout', 'wait'],
  ['maxwait', 'wait'],
  ['acquiretimeout', 'wait'],
  ['duration', 'ttl'],
  ['lease', 'ttl'],
]);

function refuseUnknownOption(name: string, checks: OptionChecks, path: string): never {
  const names = [...checks.keys()];
  const alias = ALIASES.get(name.toLowerCase()) ?? '';
  const closest = checks.has(alias) ? alias : (closestName(name, names) ?? optionBelow(name, checks));
  const hint =
    closest === undefined
      ? `Known here: ${names.map((each) => path + each).join(', ')}.`
      : `Did you mean ${path}${closest}?`;
  throw new LockConfigError(`There is no option ${path}${name}. ${hint}`);
}

/** The path of an option that exists below another one. */
function optionBelow(name: string, checks: OptionChecks): string | undefined {
  for (const [parent, { below = [] }] of checks) {
    const closest = closestName(name, below);
    if (closest !== undefined) return `${parent}.${closest}`;
  }
  return undefined;
}

/** The values that {@link isMilliseconds} accepts. */
export interface MillisecondRange {
  min: number;
  /** The longest one; by default the longest delay of a timer. */
  max?: number;
  /** Whether fractions are invalid, as for leases, which Redis counts in whole milliseconds. */
  whole?: boolean;
  infinite?: boolean;
}

/** Whether a value is a number of milliseconds within `range`. */
export function isMilliseconds(value: unknown, range: MillisecondRange): value is number {
  if (range.infinite === true && value === Infinity) return true;
  const inRange = typeof value === 'number' && value >= range.min && value <= (range.max ?? LONGEST_DELAY);
  return inRange && (range.whole !== true || Number.isInteger(value));
}

/** Creates the check of a duration within `range`. */
export function milliseconds(range: MillisecondRange): OptionCheck {
  return (option, value) => {
    if (isMilliseconds(typeof value === 'string' ? parseDuration(value) : value, range)) return;
    const kind = range.whole === true ? 'a whole number of milliseconds' : 'a number of milliseconds';
    const end = range.infinite === true ? ', or Infinity' : '';
    const text = "or text with a unit, such as '500ms', '30s', '5m', '1.5h' or '1d'";
    refuseOption(option, value, `${kind} from ${range.min} to ${range.max ?? LONGEST_DELAY}${end}, ${text}`);
  };
}

/** Creates the check of a whole number from `min` to `max`. */
export function wholeNumber(min: number, max = Number.MAX_SAFE_INTEGER): OptionCheck {
  return (option, value) => {
    if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return;
    const range = max === Number.MAX_SAFE_INTEGER ? `${min} or more` : `from ${min} to ${max}`;
    refuseOption(option, value, `a whole number, ${range}`);
  };
}

/** Creates the check of an option with a fixed set of values. */
export function oneOf(...values: readonly (string | boolean)[]): OptionCheck {
  const allowed = values.map((value) => (typeof value === 'string' ? `'${value}'` : value)).join(' or ');
  return (option, value) => {
    if (!values.includes(value as string)) refuseOption(option, value, allowed);
  };
}

/** Rejects a value that is no plain object, no instance of a class of the user, and no module. */
export function assertOptionsObject(
  option: string,
  value: unknown,
  allowed = 'a plain object',
): asserts value is object {
  // A Map, a Date or a Promise has no field with an option, so that the defaults would apply.
  if (!['[object Object]', '[object Module]'].includes(Object.prototype.toString.call(value)))
    refuseOption(option, value, allowed);
}

const LONGEST = 80;

/** The text of a rejected value in an error: short, on one line, without the contents of objects. */
export function printableValue(value: unknown): string {
  // A URL may have a password.
  if (typeof value === 'string')
    return value.includes('://') ? redactedConnection(value) : JSON.stringify(shorten(value));
  if (typeof value === 'function') return 'a function';
  if (isPromise(value)) return 'a Promise, which is not awaited';
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === 'object' && value !== null)
    return `an object (${value.constructor?.name ?? 'no class'})`;
  return String(value);
}

function shorten(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

/** The candidate closest to a misspelt name; undefined if none is close enough for a suggestion. */
export function closestName(name: string, candidates: readonly string[]): string | undefined {
  const wanted = name.toLowerCase();
  const [best] = candidates
    .map((candidate) => ({ candidate, distance: editDistance(wanted, candidate.toLowerCase()) }))
    .filter(({ candidate, distance }) => distance <= Math.max(1, Math.floor(candidate.length / 3)))
    .toSorted((a, b) => a.distance - b.distance);
  return best?.candidate;
}

function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (const [i, letter] of Array.from(from).entries()) {
    const next = [i + 1];
    for (const [j, other] of Array.from(to).entries()) {
      const insertion = (next[j] ?? 0) + 1;
      const deletion = (row[j + 1] ?? 0) + 1;
      const replacement = (row[j] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(insertion, deletion, replacement));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
