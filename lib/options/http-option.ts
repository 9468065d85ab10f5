import type { LockErrorCode } from '../errors/lock.error.js';
import type { LockHttpStatuses, RedisLockModuleOptions } from './module-options.interface.js';
import {
  assertOptions,
  assertOptionsObject,
  type OptionChecks,
  wholeNumber,
  withDefaults,
} from './option-checks.js';

/** Default HTTP status of each error. */
export const HTTP_STATUS_DEFAULTS: Readonly<Record<LockErrorCode, number>> = Object.freeze({
  LOCK_KEY: 400,
  LOCK_TIMEOUT: 423,
  LOCK_DEADLOCK: 500,
  LOCK_QUEUE_FULL: 503,
  LOCK_UNAVAILABLE: 503,
  LOCK_LOST: 500,
  LOCK_CLOSED: 503,
  LOCK_CONFIG: 500,
});

const ERROR_STATUS = wholeNumber(400, 599);
const CHECKS: OptionChecks = new Map(Object.keys(HTTP_STATUS_DEFAULTS).map((code) => [code, ERROR_STATUS]));

/** The `http` option with its defaults filled in; false stays false. */
export function resolveHttpOption(
  http: RedisLockModuleOptions['http'] = {},
): false | Required<LockHttpStatuses> {
  return http && withDefaults(HTTP_STATUS_DEFAULTS, http);
}

/** Rejects an invalid `http` option. */
export function checkHttp(option: string, http: unknown): void {
  if (http === false) return;
  assertOptionsObject(option, http, 'false, or an object with an HTTP status per error code');
  assertOptions(option, http, CHECKS, `${option}.`);
}
