import { createHash, randomBytes } from 'node:crypto';
import { LockKeyError } from '../../errors/lock.error.js';
import { lockNameProblem } from '../../keys/lock-name.js';
import { MAX_PERMITS } from '../../options/option-table.js';
import { isMilliseconds } from '../../options/option-checks.js';
import { listIn } from '../../primitives/try-to.js';
import { taggedOwner } from '../../store/owner-id.js';

/** A detached hold of one name. */
export interface DetachedHold {
  readonly name: string;
  /** The detaching instance. */
  readonly instance: string;
  readonly token: number;
  /** Remaining milliseconds of `minHold` at the detach. */
  readonly minHold: number;
  readonly mode: 'exclusive' | 'shared';
  readonly permits: number;
  /** Milliseconds of the lease from the detach on. After a failed attach, the returned hold has as many again. */
  readonly ttl: number;
}

/** The contents of the string from `detach()`. */
export interface DetachedLock {
  /** Its owner may attach the holds; Redis contains only a digest of it. */
  readonly secret: string;
  readonly holds: readonly DetachedHold[];
}

const PREFIX = 'lock1.';
const SECRET_BYTES = 16;
const DIGEST_BYTES = 16;

/** Creates a secret of 128 random bits. */
export function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

/**
 * The owner id of a detached hold. Queries, errors and logs show owner ids, so it contains only a digest of the secret.
 * All other fields of the string are also part of the owner id, so that its carrier cannot change them.
 */
export function ownerOfDetached(secret: string, hold: DetachedHold): string {
  const { name, instance, token, minHold, mode, permits, ttl } = hold;
  const content = [secret, minHold, ttl, name].join(' ');
  const digest = createHash('sha256').update(content).digest().subarray(0, DIGEST_BYTES);
  return taggedOwner(instance, tagOf(mode, digest, permits), token);
}

/** The tag of a detached or attached hold in owner ids. */
export function tagOf(mode: DetachedHold['mode'], random: Buffer, permits: number): string {
  return (mode === 'shared' ? `s${permits}x` : '') + random.toString('hex');
}

export function formatDetached({ secret, holds }: DetachedLock): string {
  return PREFIX + Buffer.from(JSON.stringify([secret, ...holds])).toString('base64url');
}

/**
 * Parses a string from `detach()`.
 *
 * @throws LockKeyError for any other value, which the message does not contain, because it may be part of a valid one.
 */
export function parseDetached(value: unknown): DetachedLock {
  const isOne = typeof value === 'string' && value.startsWith(PREFIX);
  const text = isOne ? Buffer.from(value.slice(PREFIX.length), 'base64url').toString() : '';
  const [secret, ...holds] = listIn(text);
  const isWhole = typeof secret === 'string' && secret !== '' && holds.length > 0;
  if (isWhole && holds.every(isHold) && new Set(holds.map(({ name }) => name)).size === holds.length)
    return { secret, holds };
  throw new LockKeyError('attach() takes the string that detach() returned, complete and unchanged.');
}

function isHold(value: unknown): value is DetachedHold {
  if (typeof value !== 'object' || value === null) return false;
  const { name, instance, token, minHold, mode, permits, ttl } = value as Record<string, unknown>;
  return (
    lockNameProblem(name) === undefined &&
    typeof instance === 'string' &&
    Number.isSafeInteger(token) &&
    isMilliseconds(minHold, { min: 0, whole: true }) &&
    isMilliseconds(ttl, { min: 1, whole: true }) &&
    (mode === 'exclusive' ? permits === 1 : mode === 'shared' && isPermits(permits))
  );
}

function isPermits(value: unknown): boolean {
  return isMilliseconds(value, { min: 1, whole: true }) && value <= MAX_PERMITS;
}
