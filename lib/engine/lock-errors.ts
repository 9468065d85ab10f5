import {
  LockClosedError,
  LockConfigError,
  LockQueueFullError,
  LockUnavailableError,
} from '../errors/lock.error.js';
import { LockLostError, type LockLostReason } from '../errors/lock-lost.error.js';
import { type LockHolder, type LockTimeoutDetails, LockTimeoutError } from '../errors/lock-timeout.error.js';
import { SHARED_OWNER } from '../store/grant.js';
import { instanceOf, THIS_PROCESS } from '../store/owner-id.js';
import type { ResolvedLockOptions } from '../options/lock-options.interface.js';
import { HANDSHAKE_FAILED, TooFewReplicas, refusalReason } from '../store/store-errors.js';

const STOP = 'Stop its work, because another caller may hold the lock now.';

const CHECK = 'To check Redis, run `npx nest-redis-lock doctor`.';

/** Why a hold ended before its release. */
export interface Loss {
  readonly reason: LockLostReason;
  readonly text: string;
  readonly cause?: unknown;
}

/** The hold lasted longer than `maxHold`. */
export const OUTLASTED: Loss = { reason: 'max-hold', text: 'The hold lasted longer than maxHold.' };

/** A nested call kept a released hold until the end of the lease. */
export const NOT_RELEASED: Loss = {
  reason: 'max-hold',
  text:
    'A nested call had not released the hold when its lease ended, although the work around it had ended. ' +
    'Release each lock that acquire() returns, or call using().',
};

/** The store does not know the hold. */
export const GONE: Loss = {
  reason: 'gone',
  text: 'Redis no longer has the hold: its lease expired, Redis lost its data, or another client removed the key.',
};

export const FORCED: Loss = { reason: 'forced', text: 'The lock was released forcibly (forceRelease).' };

export const SHUT_DOWN: Loss = {
  reason: 'shutdown',
  text: 'The application was shut down while the lock was held.',
};

/** The lease was not renewed in time, or was not to be renewed. */
export function expiry({ renew, ttl }: Pick<ResolvedLockOptions, 'renew' | 'ttl'>): Loss {
  const text = renew
    ? 'The lease expired before it was renewed: the process or its machine was stopped, or Redis (or enough of the ' +
      'replicas that the option replicas requires) did not confirm the renewal in time.'
    : `The lease of ${ttl} ms ended before the work did, and renew is false. Raise ttl, or extend the lease in time.`;
  return { reason: 'expired', text };
}

/** Only some names of the hold could be detached. */
export function partlyDetached(keys: readonly string[], cause: unknown): Loss {
  return {
    reason: 'gone',
    text: `Not all names of the hold on ${quoted(keys)} could be detached.`,
    cause,
  };
}

/** The error of a caller that learns of a loss before it has the hold. */
export function lostError(keys: readonly string[], { reason, text }: Loss): LockLostError {
  return new LockLostError(text, { keys, reason });
}

/**
 * The error of a holder whose hold was lost.
 *
 * @param age milliseconds
 */
export function lostHoldError(
  keys: readonly string[],
  { cause, reason, text }: Loss,
  age: number,
  label: string | undefined,
): LockLostError {
  const message = `The hold on ${quoted(keys)} ended after ${Math.round(age)} ms${ofCaller(label)}. ${text} ${STOP}`;
  return new LockLostError(message, { cause, keys, reason });
}

/**
 * The error of a caller whose lock was taken.
 *
 * @param details `retryAfter` is the rest of the lease of a holder that is known not to renew it
 */
export function timeoutError(
  keys: readonly string[],
  call: FailedAcquire,
  details: Pick<LockTimeoutDetails, 'cause' | 'holder' | 'retryAfter'>,
): LockTimeoutError {
  const { holder } = details;
  const message = `${notAcquired('Lock', keys, call)}.${heldBy(holder)} ${adviceFor(keys, holder)}`;
  return new LockTimeoutError(message, { ...details, keys, waited: call.waited });
}

/** Copies a timeout with the label of its holder. */
export function withHolderLabel(error: LockTimeoutError, label: string): LockTimeoutError {
  const { callerHolds, cause, keys, retryAfter, waited } = error;
  const holder = { ...error.holder, label };
  const message = error.message.replace(heldBy(error.holder), () => heldBy(holder));
  return new LockTimeoutError(message, { callerHolds, cause, holder, keys, retryAfter, waited });
}

/** What to do: a retry is useless while a key without expiry exists. */
function adviceFor(keys: readonly string[], holder: LockHolder | undefined): string {
  const [key = ''] = keys;
  if (holder?.remaining !== Infinity) return 'Retry later, or raise the option wait.';
  return (
    `Its key in Redis has no expiry, so the lease never ends. To see it, run \`npx nest-redis-lock query ${shellWord(key)}\`; ` +
    `if its owner is gone, end it with \`npx nest-redis-lock release ${shellWord(key)}\`.`
  );
}

/** A name as one word of a command line. */
function shellWord(text: string): string {
  return /^[\w:./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** Describes the holder in a sentence that begins with a space; empty for an unknown holder. */
function heldBy(holder: LockHolder | undefined): string {
  if (holder?.owner === undefined) return '';
  const { label, owner, remaining } = holder;
  const instance = owner.startsWith(THIS_PROCESS) ? 'this process' : instanceOf(owner);
  const where = owner === SHARED_OWNER ? 'shared holders' : instance;
  const lease =
    remaining === undefined || remaining === Infinity
      ? ''
      : `, lease ends in ${Math.round(remaining)} ms unless renewed`;
  return ` Held by ${label === undefined ? where : `${label} in ${where}`}${lease}.`;
}

/** An acquire that failed: its wait in milliseconds, and the caller's label. */
export interface FailedAcquire {
  readonly waited: number;
  readonly label: string | undefined;
}

/** The error of an acquire that the store refused or did not answer. */
export function unavailableError(
  keys: readonly string[],
  cause: unknown,
  call: FailedAcquire,
): LockUnavailableError {
  const message = `${problemOf(cause)}, so ${notAcquired('lock', keys, call)}. ${CHECK}`;
  return new LockUnavailableError(message, { keys, cause });
}

/** The error of an attach whose effect on the hold is unknown. */
export function undecidedError(
  keys: readonly string[],
  cause: unknown,
  call: FailedAcquire,
): LockUnavailableError {
  const { message } = unavailableError(keys, cause, call);
  const outcome =
    'Redis may have attached the hold: this process returns it as soon as Redis answers. Until then, attach() ' +
    'may reject with LockLostError, although the string becomes valid again.';
  return new LockUnavailableError(`${message} ${outcome}`, { keys, cause });
}

/** Says that locks were not acquired: which, within which time, and where. */
export function notAcquired(noun: string, keys: readonly string[], { waited, label }: FailedAcquire): string {
  const subject = keys.length > 1 ? `${noun}s ${quoted(keys)} were` : `${noun} ${quoted(keys)} was`;
  return `${subject} not acquired within ${Math.round(waited)} ms${ofCaller(label)}`;
}

function quoted(keys: readonly string[]): string {
  return keys.map((key) => `"${key}"`).join(', ');
}

function ofCaller(label: string | undefined): string {
  return label === undefined ? '' : ` (${label})`;
}

/** Errors of Node before a connection exists, and what ioredis says of sentinels and Clusters instead of them. */
const CANNOT_CONNECT =
  /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|connect (?:ETIMEDOUT|ENOENT|EACCES)|All sentinels .*unreachable|: Connection is closed/;

/** A write to a connection that the server has closed; ioredis hides the reason that the server sent. */
const CLOSED = /write EPIPE|ECONNRESET/;

function problemOf(cause: unknown): string {
  const reason = refusalReason(cause);
  if (reason !== undefined) return `Redis refused the request (${reason})`;
  if (cause instanceof TooFewReplicas) return 'Too few replicas of Redis confirmed the grant';
  if (cause instanceof AggregateError) return cause.message;
  const detail = detailOf(cause);
  if (HANDSHAKE_FAILED.test(detail))
    return `Cannot connect to Redis by TLS${detail}: check the option connection, and its tls.ca for an authority of your own`;
  if (CANNOT_CONNECT.test(detail))
    return `Cannot connect to Redis${detail}: check the server, and the address in the option connection`;
  const hint = CLOSED.test(detail) ? ': the server closed the connection, for example at its maxclients' : '';
  return `Redis did not answer in time${detail}${hint}`;
}

/** The innermost cause in parentheses, for example a refused connection. */
function detailOf(cause: unknown): string {
  if (!(cause instanceof Error)) return '';
  if (cause.cause instanceof Error) return detailOf(cause.cause);
  return ` (${cause.message.replace(/\.$/, '')})`;
}

/**
 * The error of an unconfirmed extension; `cause` is undefined if its outcome is unknown or too few servers confirmed.
 */
export function extensionError(keys: readonly string[], cause?: unknown): LockUnavailableError {
  const problem = cause === undefined ? 'Too few servers confirmed' : 'Redis did not confirm';
  return new LockUnavailableError(
    refusedOr(problem, `the extension of the lease on ${quoted(keys)}`, cause),
    { keys, cause },
  );
}

/** The error of an unconfirmed detach. `outcome` says what became of the hold. */
export function detachmentError(
  keys: readonly string[],
  cause: unknown,
  outcome: string,
): LockUnavailableError {
  const message = refusedOr('Redis did not confirm', `the detachment of the hold on ${quoted(keys)}`, cause);
  return new LockUnavailableError(`${message} ${outcome}`, { keys, cause });
}

/** The error of a query or a forced release that the store refused or did not answer. */
export function requestError(keys: readonly string[], cause: unknown): LockUnavailableError {
  const what = keys.length === 0 ? 'the request about locks' : `the request about ${quoted(keys)}`;
  const message = refusedOr('Redis did not answer', what, cause);
  return new LockUnavailableError(message, { keys, cause });
}

function refusedOr(outage: string, what: string, cause: unknown): string {
  const reason = refusalReason(cause);
  return reason === undefined ? `${outage} ${what}${detailOf(cause)}.` : `Redis refused ${what} (${reason}).`;
}

export function queueFullError(keys: readonly string[], waiting: number): LockQueueFullError {
  const message = `${waiting} callers of this instance already wait for ${quoted(keys)}. Retry later.`;
  return new LockQueueFullError(message, { keys });
}

/** The error of a caller that uses a hold after its release. */
export function releasedError(keys: readonly string[]): LockLostError {
  return new LockLostError(`The hold on ${quoted(keys)} has been released.`, { keys });
}

/** The error of a caller that uses a hold after its detachment. */
export function detachedError(keys: readonly string[]): LockLostError {
  const message = `The hold on ${quoted(keys)} has been detached: use the lock that attach() returns.`;
  return new LockLostError(message, { keys });
}

/** The error of a caller that attaches a hold which another caller has attached, or which has ended. */
export function detachedGoneError(keys: readonly string[]): LockLostError {
  return new LockLostError(
    `The detached hold on ${quoted(keys)} is gone: another caller has attached it, its lease has expired, it was released ` +
      'forcibly, or the string is forged.',
    { keys, reason: 'gone' },
  );
}

/** The error of a caller whose lock is taken while the application shuts down. */
export function closingError(keys: readonly string[]): LockClosedError {
  return shutdownError('waits for no taken lock', keys);
}

/** The error of a call at the end of the shutdown. */
export function closedError(keys: readonly string[]): LockClosedError {
  const noun = keys.length === 1 ? 'lock' : 'locks';
  return shutdownError(`takes no more calls for ${noun}${keys.length > 0 ? ` ${quoted(keys)}` : ''}`, keys);
}

function shutdownError(effect: string, keys: readonly string[]): LockClosedError {
  const message = `The application is shutting down and ${effect}. Repeat the call on another instance.`;
  return new LockClosedError(message, { keys });
}

/** The error of a caller while the store cannot be used, with the names of its call. */
export function unusableError({ message }: LockConfigError, keys: readonly string[]): LockConfigError {
  return new LockConfigError(message, { keys });
}
