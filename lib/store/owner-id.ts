import type { Grant } from './grant.js';

/**
 * Owner ids are `<instance>:<token>`, and `<instance>~<tag>:<token>` for a hold on its way from one instance to
 * another and for one that has been taken over. An instance takes the former for a turn of its own queue, which may
 * be adopted, counted as free or cancelled; of the latter only its transfer knows.
 *
 * A shared hold has a tag that begins with `s`: `<instance>~<turn>:<place within the turn>`, so that a turn which is
 * asked for twice is granted the same holds; and one that was transferred ends in its token, as others do. Names that
 * were granted together have one owner id, with a tag that begins with `m`, of its own for each request.
 */
export interface OwnerId {
  readonly instance: string;
  /** Tells transfers apart; undefined for a hold that was not transferred. */
  readonly tag?: string;
  readonly token: number;
}

export function formatOwner({ instance, tag, token }: OwnerId): string {
  return `${instance}${tag === undefined ? '' : `~${tag}`}:${token}`;
}

/** The instance that an owner id names: up to the tag, or else up to the token. */
export function instanceOf(owner: string): string {
  const [, instance = owner] = /^([^~]*?)(?:~[^:]*)?:\d+$/.exec(owner) ?? [];
  return instance;
}

/** What stands between instance and token, where there is something. */
export function tagIn(owner: string): string | undefined {
  return /~([^:]*):\d+$/.exec(owner)?.[1];
}

/** Begins the tag of a shared hold; the tags of other transfers are hexadecimal. */
export const SHARED_TAG = 's';

const SHARED = new RegExp(`~(${SHARED_TAG}[^~:]*):\\d+$`);

/** Whether an owner id is that of a hold which others may have at the same time. */
export function isSharedOwner(owner: string): boolean {
  return SHARED.test(owner);
}

/** The turn, or the part of one, that a shared hold was granted to. */
export function turnOf(owner: string): string | undefined {
  return SHARED.exec(owner)?.[1];
}

/** The owner id of a turn's n-th shared hold, counted from 1. */
export function sharedOwner(instance: string, turn: string, n: number): string {
  return formatOwner({ instance, tag: turn, token: n });
}

/** The owner ids of all holds of a grant. */
export function ownersOf({ owner, tokens, turn }: Grant): string[] {
  if (turn === undefined) return [owner];
  const [instance, granted = turn] = [instanceOf(owner), turnOf(owner)];
  return Array.from({ length: tokens }, (_, i) => sharedOwner(instance, granted, i + 1));
}

/** The fencing token in which an owner id ends: the first of its grant. */
export function tokenOf(owner: string): number {
  return Number(owner.slice(owner.lastIndexOf(':') + 1));
}
