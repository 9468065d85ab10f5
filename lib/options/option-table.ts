import { ERROR_REPLIES } from '../errors/error-replies.js';
import { LockConfigError, type LockErrorCode } from '../errors/lock.error.js';
import { CONTROL_CHARACTER, fitsIn, UNPRINTABLE } from '../primitives/characters.js';
import { assertConnections } from './connection/quorum-option.js';
import {
  assertOptions,
  assertOptionsObject,
  checksOf,
  milliseconds,
  oneOf,
  type OptionCheck,
  optionsBelow,
  type OptionTable,
  refuseOption,
  wholeNumber,
} from './option-checks.js';

type Defaults<T> = {
  [Name in keyof T as T[Name] extends { initial: unknown } ? Name : never]: T[Name] extends {
    initial: infer Default;
  }
    ? Default
    : never;
};

const DURATION = milliseconds({ min: 0, infinite: true });
const FLAG = oneOf(true, false);
const COUNT = wholeNumber(1);
const LIMIT: OptionCheck = (option, value) => value === Infinity || COUNT(option, value);
const MIN = wholeNumber(0);

/** Maximum number of permits of one hold, and of all holds that one bid requests: one script call grants them. */
export const MAX_PERMITS = 256;

/** The longest label, in bytes of UTF-8. */
export const MAX_LABEL_BYTES = 128;

/**
 * Options of an acquire. Combinations that cannot work are rejected by `lock-options.ts`, and those that depend on the
 * connection by `connection/rejected-options.ts`.
 */
export const LOCK_OPTIONS = {
  // The shortest lease that survives an ordinary pause of the event loop between two renewals.
  ttl: { check: milliseconds({ min: 10, whole: true }), initial: 30_000 },
  wait: { check: DURATION, initial: 10_000, except: ['lead'] },
  signal: { check: checkSignal, initial: undefined, except: ['preset', 'module', 'locked'] },
  // Bounds the memory of waiters. With a millisecond of work, the last of them is served after the default of `wait`.
  maxWaiters: { check: LIMIT, initial: 10_000 },
  // Twice `commandTimeout`: a silent connection is replaced meanwhile, and the next one has time to answer.
  outageTimeout: { check: DURATION, initial: 2_000, except: ['lead'] },
  renew: { check: FLAG, initial: true },
  maxHold: { check: milliseconds({ min: 1, infinite: true }), initial: Infinity },
  minHold: { check: milliseconds({ min: 0, whole: true }), initial: 0, except: ['module'] },
  label: { check: checkLabel, initial: undefined, except: ['preset', 'module'] },
  preset: { check: text('the name of a preset'), except: ['preset', 'module'] },
  reentrant: { check: FLAG, initial: true, except: ['lead'] },
  mode: {
    check: oneOf('exclusive', 'shared'),
    initial: 'exclusive',
    except: ['module', 'lead'],
  },
  limit: { check: LIMIT, initial: Infinity, except: ['module', 'lead'] },
  permits: { check: wholeNumber(1, MAX_PERMITS), initial: 1, except: ['module', 'lead'] },
  replicas: { check: checkReplicas, initial: undefined },
} as const satisfies OptionTable;

const REPLICAS = checksOf({
  min: { check: MIN },
  // To Redis, 0 means no limit.
  timeout: { check: milliseconds({ min: 1, whole: true }) },
});

/** Options of `@Locked` besides those of an acquire. */
export const LOCKED_OPTIONS: OptionTable = {
  onTimeout: { check: functionOr("'throw', 'skip' or a function", 'throw', 'skip') },
  module: { check: text('the name of a RedisLockModule') },
};

/** Options of a campaign besides those of an acquire. */
export const LEAD_OPTIONS: OptionTable = {
  pause: { check: milliseconds({ min: 0 }) },
  onError: { check: functionOr('a function') },
};

/** Ten years. */
const LONGEST_KEEP = 315_360_000_000;

/** Options of a call of `once` besides those of an acquire. */
export const ONCE_OPTIONS: OptionTable = {
  keep: { check: milliseconds({ min: 1, max: LONGEST_KEEP, whole: true }) },
  ...Object.fromEntries(['mode', 'limit', 'permits'].map((name) => [name, { check: refuseInOnce }])),
};

/** Options of a list. */
export const LIST_OPTIONS = {
  prefix: { check: text('a string'), initial: '' },
  limit: { check: LIMIT, initial: Infinity },
} as const satisfies OptionTable;

/** Options of a forced release. */
export const FORCE_RELEASE_OPTIONS: OptionTable = { owners: { check: checkOwners } };

/** Options of the module below `advanced`. */
export const ADVANCED_OPTIONS = {
  commandTimeout: { check: milliseconds({ min: 1, whole: true }), initial: 1_000 },
  maxResult: { check: COUNT, initial: 65_536 },
  nodeTimeout: { check: milliseconds({ min: 1 }), initial: 50 },
  wake: { check: oneOf('pubsub', 'poll'), initial: 'pubsub' },
  layout: { check: oneOf('common', 'per-name'), initial: 'common' },
} as const satisfies OptionTable;

/** HTTP status of each error, without the option `http`. */
export const HTTP_STATUS_DEFAULTS = Object.freeze(
  Object.fromEntries(Object.entries(ERROR_REPLIES).map(([code, { http }]) => [code, http])),
) as Readonly<Record<LockErrorCode, number>>;

/** Options of the module besides defaults of an acquire. */
export const MODULE_OPTIONS = {
  connection: { check: (_option, connection) => assertConnections(connection) },
  credentials: { check: functionOr('a function that resolves to { username?, password, expiresAt? }') },
  keyPrefix: { check: checkKeyPrefix, initial: 'lock:' },
  presets: { check: checkPresets },
  shutdownTimeout: { check: milliseconds({ min: 0 }), initial: 5_000 },
  startupChecks: { check: oneOf('warn', 'error', 'off'), initial: 'warn' },
  http: { check: checkHttp },
  advanced: { check: optionsBelow(checksOf(ADVANCED_OPTIONS)) },
} as const satisfies OptionTable;

const STATUS = { check: wholeNumber(400, 599) };
const HTTP = checksOf(Object.fromEntries(Object.keys(HTTP_STATUS_DEFAULTS).map((code) => [code, STATUS])));
const PRESET = checksOf(LOCK_OPTIONS, 'preset');

/** Returns the defaults of a table. */
export function defaultsOf<T extends OptionTable>(table: T): Defaults<T> {
  const defaults = Object.entries(table).filter(([, option]) => 'initial' in option);
  return Object.fromEntries(defaults.map(([name, { initial }]) => [name, initial])) as Defaults<T>;
}

function text(allowed: string): OptionCheck {
  return (option, value) => {
    if (typeof value !== 'string') refuseOption(option, value, allowed);
  };
}

function functionOr(allowed: string, ...words: readonly unknown[]): OptionCheck {
  return (option, value) => {
    if (typeof value !== 'function' && !words.includes(value)) refuseOption(option, value, allowed);
  };
}

function refuseInOnce(option: string): never {
  throw new LockConfigError(
    `${option} has no meaning for a call of once: its run holds the name alone. Leave it out.`,
  );
}

function checkSignal(option: string, signal: unknown): void {
  // Checks the shape: a signal from another realm, such as a test environment, is not an instance of this AbortSignal.
  const shape = signal as Partial<AbortSignal> | null;
  if (typeof shape?.aborted === 'boolean' && typeof shape.throwIfAborted === 'function') return;
  refuseOption(option, signal, 'an AbortSignal');
}

function checkLabel(option: string, label: unknown): void {
  const isPrintable = typeof label === 'string' && label !== '' && !UNPRINTABLE.test(label);
  if (isPrintable && fitsIn(MAX_LABEL_BYTES, label)) return;
  refuseOption(option, label, `1 to ${MAX_LABEL_BYTES} bytes of UTF-8 without control characters`);
}

function checkReplicas(option: string, replicas: unknown): void {
  assertOptions(option, replicas, REPLICAS, `${option}.`);
  MIN(`${option}.min`, Reflect.get(replicas, 'min'));
}

function checkOwners(option: string, owners: unknown): void {
  if (!Array.isArray(owners) || !owners.every((owner) => typeof owner === 'string'))
    refuseOption(option, owners, 'an array of owner ids, as query() returns them');
}

function checkKeyPrefix(option: string, keyPrefix: unknown): void {
  // Braces would move keys to another Cluster slot than their queue; control characters hide in listings.
  if (typeof keyPrefix === 'string' && !/[{}]/.test(keyPrefix) && !CONTROL_CHARACTER.test(keyPrefix)) return;
  refuseOption(option, keyPrefix, 'a string without { } and control characters');
}

function checkPresets(option: string, presets: unknown): void {
  assertOptionsObject(option, presets, 'a plain object with the options of each preset');
  for (const [name, preset] of Object.entries(presets))
    assertOptions(`${option}.${name}`, preset, PRESET, `${option}.${name}.`);
}

function checkHttp(option: string, http: unknown): void {
  if (http === false) return;
  assertOptionsObject(option, http, 'false, or a plain object with an HTTP status per error code');
  assertOptions(option, http, HTTP, `${option}.`);
}
