import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { type Grant, SHARED_OWNER, type SharedTerms } from './grant.js';

/** A block of consecutive fencing tokens. */
export type Block = Pick<Grant, 'token' | 'tokens'>;

/** The beginning of all instance names of this process, `<host>-<pid>-`. Replaces characters with a meaning in keys. */
export const THIS_PROCESS = `${hostname().replaceAll(/[^A-Za-z0-9.-]/g, '-') || 'host'}-${process.pid}-`;

/**
 * Format version of the keys, owner ids, places and messages in Redis. A package version that changes one of them changes
 * it. To each of the two, a lock of the other one is then that of another package, which excludes it.
 */
const FORMAT = 'v1';

/**
 * Creates the name of an instance, `<host>-<pid>-<format>-<12 random digits>`. It shows operators where a holder runs.
 * Owner ids, places and channels begin with it, so each of them shows its format.
 */
export function instanceName(): string {
  return `${THIS_PROCESS}${FORMAT}-${randomBytes(6).toString('hex')}`;
}

const INSTANCE = `[A-Za-z0-9.-]+-\\d+-${FORMAT}-[0-9a-f]{12}`;
const OWN_INSTANCE = new RegExp(`^${INSTANCE}$`);

/** Whether a name is that of an instance of this package. Others do not reply to messages. */
export function isInstance(name: string): boolean {
  return OWN_INSTANCE.test(name);
}

/**
 * Formats an owner id with a tag. An owner id is `<instance>:<token>`, or `<instance>~<tag>:<token>`. An instance takes
 * the first form for the exclusive lock of its own queue, which it may adopt, count as free or cancel.
 *
 * A shared hold has the tag `s<permits>of<limit>`, without `of` for no limit; see `sharedTag`. A detached or attached
 * hold has a random tag, behind `s<permits>x` if it is shared. Only its transfer may act on such an owner id.
 */
export function taggedOwner(instance: string, tag: string, token: number): string {
  return `${instance}~${tag}:${token}`;
}

/** The tag of shared holds with these terms, in owner ids and places. */
export function sharedTag({ permits, limit }: SharedTerms): string {
  return `s${permits}${limit === Infinity ? '' : `of${limit}`}`;
}

export function termsIn(tag: string): SharedTerms {
  const [, permits = 1, limit = Infinity] = /^s(\d+)(?:of(\d+))?/.exec(tag) ?? [];
  return { permits: Number(permits), limit: Number(limit) };
}

/** An owner id of this package in full. Clients of other packages also use values such as `<host>:<pid>`. */
const OWN = new RegExp(`^${INSTANCE}(?:~[A-Za-z0-9]+)?:\\d+$`);

/** Whether a lock's value is no owner id of this module: a client of another package holds the lock. */
export function isForeign(owner: string | undefined): boolean {
  return owner !== undefined && owner !== SHARED_OWNER && !OWN.test(owner);
}

/** The instance of an owner id: the part before the tag or the token. */
export function instanceOf(owner: string): string {
  const [, instance = owner] = /^([^~]*?)(?:~[^:]*)?:\d+$/.exec(owner) ?? [];
  return instance;
}

const SHARED = /~(s\d[^~:]*):\d+$/;

export function isSharedOwner(owner: string): boolean {
  return SHARED.test(owner);
}

/** The tag of a shared hold; undefined for an exclusive one. */
export function sharedTagOf(owner: string): string | undefined {
  return SHARED.exec(owner)?.[1];
}

export function permitsOf(owner: string): number {
  return termsIn(sharedTagOf(owner) ?? '').permits;
}

/**
 * The grants of several shared holds with a block of tokens, of which each gets an equal part for the callers after
 * one another.
 */
export function sharesOf(instance: string, tag: string, { token, tokens }: Block, holds: number): Grant[] {
  const each = Math.floor(tokens / holds);
  return Array.from({ length: holds }, (_, i) => {
    const first = token + i * each;
    return { owner: taggedOwner(instance, tag, first), token: first, tokens: each };
  });
}

/** The digits of the fencing token at the end of an owner id. */
export function digitsIn(owner: string): string {
  return owner.slice(owner.lastIndexOf(':') + 1);
}

/** The fencing token at the end of an owner id: the first one of its grant. */
export function tokenOf(owner: string): number {
  return Number(digitsIn(owner));
}
