import { messageOf } from '../../../primitives/message-of.js';
import { PassingRefusal, StoreRefusal } from '../../store-errors.js';
import type { Redaction } from './redaction.js';

/** Errors of Redis begin with a code; errors of its client, of Node and of TLS do not. */
const ANSWER = /^[A-Z][A-Z0-9]+ /;

/**
 * Permanent errors of Redis, for which a retry is useless. Errors that pass, such as LOADING, READONLY, MASTERDOWN and
 * NOREPLICAS, are not among them.
 */
const REFUSAL = /^(NOAUTH|WRONGPASS|NOPERM|WRONGTYPE|CROSSSLOT|ERR (?!max number of clients))/;

/** What the parsers of ioredis and node-redis say of replies in another protocol. */
export const OTHER_PROTOCOL = /^(?:Unknown RESP type|Protocol error, got)/;

/** Redis does not name the forbidden key of a script, which may be one that only renewals and other modes use. */
const KEY_DENIED = /^NOPERM .*\bkeys?\b/;
const NEEDED_KEYS = 'allow the user all keys that begin with the keyPrefix, as ~lock:* does';

/** A node of a Cluster rejects requests about the slots of other nodes. */
const OF_CLUSTER = /^(?:MOVED|CROSSSLOT) /;
const NEEDED_NODES =
  'for a Redis Cluster, pass connection: { nodes: [...] }; for a proxy before several shards, advanced.layout: "per-name"';

/** The position of an error in a script, which is useless in messages to users. */
const PLACE_IN_SCRIPT = / script: (?:\w+, )?on @user_script:\d+\.?$/;

/** Converts an error of Redis or its client for the engine: redacts credentials, and distinguishes refusals. */
export function storeError(error: unknown, redaction: Redaction): Error {
  const clean = cleaned(error, redaction);
  if (!isPermanent(clean)) return passing(clean);
  return new StoreRefusal(reasonIn(clean), { cause: clean });
}

/**
 * Converts an error of a connection for the engine. It always counts as temporary, until the connection is restored.
 */
export function connectionError(error: unknown, redaction: Redaction): Error {
  return passing(cleaned(error, redaction));
}

/** Whether an error is a reply of Redis for which a retry is useless. */
export function isPermanent(error: unknown): boolean {
  return error instanceof Error && REFUSAL.test(error.message);
}

/** Whether an error is a reply of Redis with this code. */
export function hasCode(error: unknown, code: string): error is Error {
  return error instanceof Error && error.message.startsWith(code);
}

/** Whether an error is a reply of Redis. */
export function isAnswer(error: unknown): boolean {
  return error instanceof Error && ANSWER.test(messageOf(error));
}

/** Without credentials, and with the likely reason for replies in another protocol. */
function cleaned(error: unknown, redaction: Redaction): Error {
  const clean = redaction.error(error);
  if (!OTHER_PROTOCOL.test(clean.message)) return clean;
  const found = clean.message.replace(/\. Please report this\.$/, '');
  return new Error(
    `The server does not speak the protocol of Redis (${found}). Check the port, and whether it requires TLS.`,
  );
}

function passing(clean: Error): Error {
  return ANSWER.test(clean.message) ? new PassingRefusal(reasonIn(clean), { cause: clean }) : clean;
}

function reasonIn({ message }: Error): string {
  const reason = message.replace(PLACE_IN_SCRIPT, '');
  if (OF_CLUSTER.test(reason)) return `${reason}: ${NEEDED_NODES}`;
  return KEY_DENIED.test(reason) ? `${reason}: ${NEEDED_KEYS}` : reason;
}
