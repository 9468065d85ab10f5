/**
 * Owner ids are `<instance>:<token>`, and `<instance>~<mark>:<token>` for a hold on its way from one instance to
 * another and for one that has been taken over. An instance takes the former for a turn of its own queue, which may
 * be adopted, counted as free or cancelled; of the latter only its hand-over knows.
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

/** The fencing token in which an owner id ends: the first of its grant. */
export function tokenOf(owner: string): number {
  return Number(owner.slice(owner.lastIndexOf(':') + 1));
}
