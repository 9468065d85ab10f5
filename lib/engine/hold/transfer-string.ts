import { createHash, randomBytes } from 'node:crypto';
import { LockKeyError } from '../../errors/lock-key.error.js';
import { lockNameProblem } from '../../keys/lock-name.js';
import { isMilliseconds } from '../../options/option-checks.js';
import { formatOwner, SHARED_TAG } from '../../store/owner-id.js';

/** A hold of one name on its way from one instance to another. */
export interface DetachedHold {
  readonly name: string;
  /** The instance that has detached it. */
  readonly instance: string;
  readonly token: number;
  /** Milliseconds of `minHold` that were left when it was detached. */
  readonly minHold: number;
  readonly mode: 'exclusive' | 'shared';
}

/** What `detach()` gives and `attach()` takes. */
export interface Transfer {
  /** Who has it may take the holds; in Redis there is only a digest of it. */
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

const PREFIX = 'lock1.';
const SECRET_BYTES = 16;
const DIGEST_BYTES = 16;

/** As hard to guess as a key of 128 bits. */
export function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

/**
 * The owner id under which a detached hold is kept. It shows in queries, errors and logs, and so must not be enough to
 * take the hold: hence a digest of the secret. All else in a transfer string is part of the owner id, too, so that whoever
 * carries the string cannot change it.
 */
export function ownerOfDetached(secret: string, hold: DetachedHold): string {
  const { name, instance, token, minHold, mode } = hold;
  // Processes of earlier versions leave `minHold` out. A rolling update lets them detach what this version attaches.
  const content = minHold === 0 ? [secret, name] : [secret, minHold, name];
  const digest = createHash('sha256').update(content.join(' ')).digest().subarray(0, DIGEST_BYTES);
  return formatOwner({ instance, tag: tagOf(mode, digest), token });
}

/** The tag of a transfer, as it stands in owner ids. */
export function tagOf(mode: DetachedHold['mode'], random: Buffer): string {
  return (mode === 'shared' ? SHARED_TAG : '') + random.toString('hex');
}

export function formatTransfer({ secret, holds }: Transfer): string {
  const content = [
    secret,
    ...holds.map(({ name, instance, token, minHold, mode }) => [name, instance, token, minHold, mode]),
  ];
  return PREFIX + Buffer.from(JSON.stringify(content)).toString('base64url');
}

/**
 * Reads what `detach()` gave.
 *
 * @throws LockKeyError for anything else; the value is not repeated, for it may be a part of a genuine one.
 */
export function parseTransfer(value: unknown): Transfer {
  const [secret, ...holds] = typeof value === 'string' && value.startsWith(PREFIX) ? contentOf(value) : [];
  if (typeof secret === 'string' && secret !== '' && holds.length > 0 && holds.every(isHold)) {
    return {
      secret,
      holds: holds.map(([name, instance, token, minHold, mode]) => ({
        name,
        instance,
        token,
        minHold,
        mode,
      })),
    };
  }
  throw new LockKeyError('attach() takes the string that detach() has given, whole and unchanged.');
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
