import { isDate, isPromise } from 'node:util/types';
import { LockKeyError } from '../errors/lock.error.js';
import { LONE_SURROGATE } from '../primitives/characters.js';
import { tryTo } from '../primitives/try-to.js';

const PART_ALLOWED =
  'a part of a key is a non-empty string, a finite number, a bigint, a boolean or a valid Date';

/**
 * The text of a key part before its encoding; undefined if the value cannot be a part.
 *
 * Numbers, bigints, booleans and Dates (in ISO form) have the same text as in a URL. Thus `7`, `7n` and `'7'` are one
 * lock, and so are `0` and `-0`.
 */
export function keyPartText(value: unknown): string | undefined {
  switch (typeof value) {
    case 'string':
      return value === '' || LONE_SURROGATE.test(value) ? undefined : value;
    case 'number':
      return Number.isFinite(value) ? String(value) : undefined;
    case 'bigint':
    case 'boolean':
      return String(value);
    default:
      return isDate(value) && isValid(value) ? value.toISOString() : undefined;
  }
}

/**
 * Reads values for a key, of which accessors and Proxies may throw anything.
 *
 * @param what the values, for the message.
 * @throws LockKeyError whose `cause` is the thrown value.
 */
export function readForKey<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof LockKeyError) throw cause;
    throw new LockKeyError(`${what} cannot be read, because an accessor or a Proxy throws.`, { cause });
  }
}

/** Describes a value without its content, which may be personal. */
export function describeValue(value: unknown): string {
  return tryTo(() => describe(value)) ?? 'an object that cannot be read';
}

function describe(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value === 'string') return describeString(value);
  if (typeof value === 'number') return describeNumber(value);
  if (isPromise(value)) return 'a Promise, which is not awaited';
  if (isDate(value)) return isValid(value) ? 'a Date' : 'an invalid Date';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty array' : 'an array';
  if (typeof value !== 'object') return `a ${typeof value}`;
  return hasOwnText(value) ? `an object of class ${classOf(value)}` : 'an object';
}

/**
 * Describes what a part of a key may be, with advice for values that have a text form, such as an ObjectId or a
 * Decimal.
 */
export function allowedInsteadOf(value: unknown): string {
  if (typeof value !== 'object' || value === null || isDate(value) || !hasOwnText(value)) return PART_ALLOWED;
  return `${PART_ALLOWED}; to lock by its text, use a function as the key, with String(…) in place of the placeholder`;
}

function hasOwnText(value: object): boolean {
  if (Array.isArray(value)) return false;
  const text: unknown = Reflect.get(value, 'toString');
  return typeof text === 'function' && text !== Object.prototype.toString;
}

/** The class of an object, from its prototype: an own property `constructor` would be content. */
function classOf(value: object): string {
  const prototype = Object.getPrototypeOf(value) as object | null;
  return prototype?.constructor?.name ?? 'unknown';
}

function describeString(value: string): string {
  if (value === '') return 'an empty string';
  return LONE_SURROGATE.test(value) ? 'a string with a lone surrogate (not valid Unicode)' : 'a string';
}

function describeNumber(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  return Number.isFinite(value) ? 'a number' : 'an infinite number';
}

function isValid(date: Date): boolean {
  return !Number.isNaN(date.getTime());
}
