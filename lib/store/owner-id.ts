import type { Grant } from './lock-store.js';

/**
 * Owner ids are `<instance>:<token>`, and `<instance>~<mark>:<token>` for a hold on its way from one instance to
 * another and for one that has been taken over. An instance takes the former for a turn of its own queue, which may
 * be adopted, counted as free or cancelled; of the latter only its hand-over knows.
 *
 * A shared hold has a mark that begins with `s`: `<instance>~<turn>:<place within the turn>`, so that a turn which is
 * asked for twice is granted the same holds; and one that was handed over ends in its token, as others do.
 */
export interface OwnerId {
  readonly instance: string;
  /** Tells hand-overs apart; undefined for a hold that was not handed over. */
  readonly mark?: string;
  readonly token: number;
}

export function formatOwner({ instance, mark, token }: OwnerId): string {
  return `${instance}${mark === undefined ? '' : `~${mark}`}:${token}`;
}

/** The instance that an owner id names: up to the mark, or else up to the token. */
export function instanceOf(owner: string): string {
  const [, instance = owner] = /^([^~]*?)(?:~[^:]*)?:\d+$/.exec(owner) ?? [];
  return instance;
}

/** Begins the mark of a shared hold; the marks of other hand-overs are hexadecimal. */
export const SHARED_MARK = 's';

const SHARED = new RegExp(`~(${SHARED_MARK}[^~:]*):\\d+$`);

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
  return formatOwner({ instance, mark: turn, token: n });
}

/** The owner ids of all holds of a grant. */
export function ownersOf({ owner, tokens, turn }: Grant): string[] {
  if (turn === undefined) return [owner];
  const instance = instanceOf(owner);
  return Array.from({ length: tokens }, (_, i) => sharedOwner(instance, turn, i + 1));
}

/** The fencing token in which an owner id ends: the first of its grant. */
export function tokenOf(owner: string): number {
  return Number(owner.slice(owner.lastIndexOf(':') + 1));
}
