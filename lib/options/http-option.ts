import type { LockErrorCode } from '../errors/lock.error.js';
import type { LockHttpStatuses, LockModuleOptions } from '../interfaces/module-options.interface.js';
import { assertKnownOptions, assertWholeNumber, refuseOption } from './option-checks.js';

/** HTTP status per error where the module does not say otherwise. */
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

const CODES: ReadonlySet<string> = new Set(Object.keys(HTTP_STATUS_DEFAULTS));

/** The `http` option with its defaults filled in; false stays false. */
export function resolveHttpOption(http: LockModuleOptions['http']): false | Required<LockHttpStatuses> {
  if (http === undefined) return HTTP_STATUS_DEFAULTS;
  if (http === false) return false;
  if (typeof http !== 'object' || http === null || Array.isArray(http)) {
    refuseOption('http', http, 'false, or an object with an HTTP status per error code');
  }
  assertKnownOptions(http, CODES, 'http.');
  const statuses = { ...HTTP_STATUS_DEFAULTS };
  for (const [code, status] of Object.entries(http)) {
    if (status === undefined) continue;
    assertWholeNumber(`http.${code}`, status, 400, 599);
    statuses[code as LockErrorCode] = status;
  }
  return statuses;
}
