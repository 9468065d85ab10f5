/** How a caller wants a name: beside at most so many holders, itself among them; undefined where it wants to be alone. */
export interface Wanted {
  readonly limit?: number | undefined;
  /** How many holders it counts as; 1 where this is left out. */
  readonly permits?: number | undefined;
}

/**
 * Whether callers may hold one name at the same time: one alone, or some that share it, in an order in which none of
 * them came in beside more than its limit lets it. Whose grant came first is not asked, for their answers may cross.
 */
export function mayHoldTogether(holders: readonly Wanted[]): boolean {
  if (holders.length < 2) return true;
  let sum = 0;
  return holders
    .toSorted(({ limit: a = 0 }, { limit: b = 0 }) => a - b)
    .every(({ limit, permits = 1 }) => limit !== undefined && (sum += permits) <= limit);
}

/** Whether a caller may come in beside those that hold a name. */
export function mayJoin({ limit }: Wanted, holders: readonly { readonly mode: string }[]): boolean {
  if (limit === undefined) return holders.length === 0;
  return holders.length < limit && holders.every(({ mode }) => mode === 'shared');
}
