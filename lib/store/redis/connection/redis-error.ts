import { PassingRefusal, StoreRefusal } from '../../store-errors.js';
import type { Redaction } from './redaction.js';

/** An error that Redis answers with begins with a code; those of its client, of Node and of TLS do not. */
const ANSWER = /^[A-Z][A-Z0-9]+ /;

/**
 * Errors by which Redis says that asking again is of no use. Not among them, for they pass: LOADING, READONLY,
 * MASTERDOWN, NOREPLICAS and the like.
 */
const REFUSAL = /^(NOAUTH|WRONGPASS|NOPERM|WRONGTYPE|CROSSSLOT|ERR (?!max number of clients))/;

/** The server is a replica now: a failover has made another one the master. */
const DEMOTED = /^READONLY/;

/** Redis does not say which key of a script the user may not use: maybe one that only renewals and other modes name. */
const KEY_DENIED = /^NOPERM .*\bkeys?\b/;
const NEEDED_KEYS = 'allow the user all keys that begin with the keyPrefix, as ~lock:* does';

/** Where in a script the error arose: of no use to whoever did not write it. */
const PLACE_IN_SCRIPT = / script: (?:\w+, )?on @user_script:\d+\.?$/;

/** An error of Redis or of its client as the engine may see it: without credentials, refusals told apart. */
export function storeError(error: unknown, redaction: Redaction): Error {
  const clean = redaction.error(error);
  if (!REFUSAL.test(clean.message)) return passing(clean);
  return new StoreRefusal(reasonIn(clean), { cause: clean });
}

/** An error of a connection as the engine may see it. Whatever it is, it is over when the connection is there again. */
export function connectionError(error: unknown, redaction: Redaction): Error {
  return passing(redaction.error(error));
}

/** Whether an error says that a key is none of ours: somebody has overwritten it. */
export function isOfOtherType(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('WRONGTYPE');
}

/** Whether an error says that the server takes no writes because it is a replica. */
export function isDemoted(error: Error): boolean {
  return DEMOTED.test(error.message);
}

/** Whether an error is what Redis has answered. */
export function isAnswer(error: unknown): boolean {
  return error instanceof Error && ANSWER.test(error.message);
}

function passing(clean: Error): Error {
  return ANSWER.test(clean.message) ? new PassingRefusal(reasonIn(clean), { cause: clean }) : clean;
}

function reasonIn({ message }: Error): string {
  const reason = message.replace(PLACE_IN_SCRIPT, '');
  return KEY_DENIED.test(reason) ? `${reason}: ${NEEDED_KEYS}` : reason;
}
