import { createHash, randomBytes } from 'node:crypto';
import { LockKeyError } from '../../errors/lock.error.js';
import { lockNameProblem } from '../../keys/lock-name.js';
import { MAX_PERMITS } from '../../options/option-table.js';
import { isMilliseconds } from '../../options/option-checks.js';
import { SHARED_TAG, taggedOwner } from '../../store/owner-id.js';
import { permitsMark } from '../../store/turn-name.js';

/** A detached hold of one name. */
export interface DetachedHold {
  readonly name: string;
  /** The detaching instance. */
  readonly instance: string;
  readonly token: number;
  /** Remaining milliseconds of `minHold` at the detach. */
  readonly minHold: number;
  readonly mode: 'exclusive' | 'shared';
  /** Number of its permits, whose tokens follow {@link token}. */
  readonly permits: number;
}

/** The contents of the string from `detach()`. */
export interface Transfer {
  /** Its owner may take the holds; Redis contains only a digest of it. */
  readonly secret: string;
  readonly holds: readonly DetachedHold[];
}

type HoldContent = [
  name: string,
  instance: string,
  token: number,
  minHold: number,
  mode: DetachedHold['mode'],
];

/** Maximum number of permits of all names in a string: one request moves them. */
export const MAX_PARTS = 1_000;

const PREFIX = 'lock1.';
const SECRET_BYTES = 16;
const DIGEST_BYTES = 16;

/** Creates a secret of 128 random bits. */
export function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

/**
 * The owner ids of a detached hold, one for each permit. Queries, errors and logs show owner ids, so they contain only
 * a digest of the secret. All other fields of the string are also part of the owner id, so that its carrier cannot
 * change them.
 */
export function ownersOfDetached(secret: string, hold: DetachedHold): string[] {
  const { name, instance, token, minHold, mode, permits } = hold;
  // Processes of earlier versions omit `minHold`. During a rolling update, this version attaches holds that they
  // detached.
  const content = minHold === 0 ? [secret, name] : [secret, minHold, name];
  const digest = createHash('sha256').update(content.join(' ')).digest().subarray(0, DIGEST_BYTES);
  const tag = tagOf(mode, digest);
  return Array.from({ length: permits }, (_, i) => taggedOwner(instance, tag, token + i));
}

/** The tag of a transfer in owner ids. */
export function tagOf(mode: DetachedHold['mode'], random: Buffer, permits = 1): string {
  return (mode === 'shared' ? SHARED_TAG + permitsMark(permits) : '') + random.toString('hex');
}

export function formatTransfer({ secret, holds }: Transfer): string {
  // One entry for each permit: earlier versions attach each as a hold of its own.
  const entries = holds.flatMap(({ name, instance, token, minHold, mode, permits }) =>
    Array.from({ length: permits }, (_, i) => [name, instance, token + i, minHold, mode]),
  );
  const content = [secret, ...entries];
  return PREFIX + Buffer.from(JSON.stringify(content)).toString('base64url');
}

/**
 * Parses a string from `detach()`.
 *
 * @throws LockKeyError for any other value, which the message does not contain, because it may be part of a valid one.
 */
export function parseTransfer(value: unknown): Transfer {
  const [secret, ...entries] = typeof value === 'string' && value.startsWith(PREFIX) ? contentOf(value) : [];
  const isWhole = typeof secret === 'string' && secret !== '' && entries.length > 0;
  if (isWhole && entries.length <= MAX_PARTS && entries.every(isHold)) {
    const holds = holdsOf(entries);
    if (new Set(holds.map(({ name }) => name)).size === holds.length) return { secret, holds };
  }
  throw new LockKeyError('attach() takes the string that detach() returned, complete and unchanged.');
}

/** Joins the permits of each hold. */
function holdsOf(entries: readonly HoldContent[]): DetachedHold[] {
  const holds: DetachedHold[] = [];
  for (const [name, instance, token, minHold, mode] of entries) {
    const last = holds.at(-1);
    const isNext = last?.name === name && mode === 'shared' && token === last.token + last.permits;
    if (isNext && last.permits < MAX_PERMITS) holds.splice(-1, 1, { ...last, permits: last.permits + 1 });
    else holds.push({ name, instance, token, minHold, mode, permits: 1 });
  }
  return holds;
}

function contentOf(value: string): readonly unknown[] {
  try {
    const content: unknown = JSON.parse(Buffer.from(value.slice(PREFIX.length), 'base64url').toString());
    return Array.isArray(content) ? content : [];
  } catch {
    return [];
  }
}

function isHold(value: unknown): value is HoldContent {
  if (!Array.isArray(value)) return false;
  const [name, instance, token, minHold, mode] = value as unknown[];
  return (
    lockNameProblem(name) === undefined &&
    typeof instance === 'string' &&
    Number.isSafeInteger(token) &&
    isMilliseconds(minHold, { min: 0, whole: true }) &&
    (mode === 'exclusive' || mode === 'shared')
  );
}
