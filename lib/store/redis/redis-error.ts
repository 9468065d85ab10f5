import { StoreRefusal } from '../lock-store.js';
import type { Redaction } from './redaction.js';

/**
 * Errors by which Redis says that asking again is of no use. Not among them, for they pass: LOADING, READONLY,
 * MASTERDOWN, NOREPLICAS and the like.
 */
const REFUSAL = /^(NOAUTH|WRONGPASS|NOPERM|WRONGTYPE|ERR (?!max number of clients))/;

/** The server is a replica now: a failover has made another one the master. */
const DEMOTED = /^READONLY/;

/** An error of Redis or of its client as the engine may see it: without credentials, a refusal told apart. */
export function storeError(error: unknown, redaction: Redaction): Error {
  const clean = redaction.error(error);
  return REFUSAL.test(clean.message) ? new StoreRefusal(clean.message, { cause: clean }) : clean;
}

/** Whether an error says that the server takes no writes because it is a replica. */
export function isDemoted(error: Error): boolean {
  return DEMOTED.test(error.message);
}
