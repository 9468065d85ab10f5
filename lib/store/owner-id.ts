import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { type Grant, SHARED_OWNER } from './grant.js';
import { permitsEach } from './turn-name.js';

/**
 * The beginning of all instance names of this process, `<host>-<pid>-`. Replaces characters with a meaning in keys.
 */
export const THIS_PROCESS = `${hostname().replaceAll(/[^A-Za-z0-9.-]/g, '-') || 'host'}-${process.pid}-`;

/**
 * Version of the keys, owner ids, places and messages in Redis. A version that changes one of them changes this mark.
 * To each version, a lock of the other one is then that of another package, which excludes it.
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
 * Formats an owner id with a tag. An owner id is `<instance>:<token>`, or `<instance>~<tag>:<token>` for a detached or
 * attached hold. An instance takes the first form for a turn of its own queue, which it may adopt, count as free or
 * cancel. Only the transfer of a hold may act on the second form.
 *
 * A shared hold has a tag that begins with `s`: `<instance>~<turn>:<place within the turn>`. A repeated request of a
 * turn is therefore granted the same holds. The tag contains the number of permits of each hold. After a transfer, the
 * owner id of a shared hold ends in its token, as others do.
 */
export function taggedOwner(instance: string, tag: string, token: number): string {
  return `${instance}~${tag}:${token}`;
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

/** First character of the tag of a shared hold; tags of transfers are hexadecimal. */
export const SHARED_TAG = 's';

const SHARED = new RegExp(`~(${SHARED_TAG}[^~:]*):\\d+$`);

/** Whether an owner id belongs to a shared hold. */
export function isSharedOwner(owner: string): boolean {
  return SHARED.test(owner);
}

/** The turn, or part of a turn, of a shared hold. */
export function turnOf(owner: string): string | undefined {
  return SHARED.exec(owner)?.[1];
}

/** The owner id of a turn's n-th shared hold, counted from 1. */
export function sharedOwner(instance: string, turn: string, n: number): string {
  return taggedOwner(instance, turn, n);
}

/** The owner ids of all holds of a grant. */
export function ownersOf({ owner, tokens, turn }: Grant): string[] {
  if (turn === undefined) return [owner];
  const [instance, granted = turn] = [instanceOf(owner), turnOf(owner)];
  return Array.from({ length: tokens }, (_, i) => sharedOwner(instance, granted, i + 1));
}

/** The number of permits of a hold. */
export function permitsOf(owner: string): number {
  return permitsEach(turnOf(owner) ?? '');
}

/** The fencing token at the end of an owner id: the first one of its grant. */
export function tokenOf(owner: string): number {
  return Number(owner.slice(owner.lastIndexOf(':') + 1));
}
