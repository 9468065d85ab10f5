import type { AcquireStep } from '../schedule.js';

/**
 * Whether callers may hold one name at the same time: one alone, or some that share it, in an order in which none of
 * them came in beside more than its limit lets it. Whose grant came first is not asked, for their answers may cross.
 */
export function mayHoldTogether(steps: readonly AcquireStep[]): boolean {
  if (steps.length < 2) return true;
  const limits = steps.map(({ limit }) => limit).toSorted((a = 0, b = 0) => a - b);
  return limits.every((limit, others) => limit !== undefined && others < limit);
}

/** Whether a caller may come in beside those that hold a name. */
export function mayJoin({ limit }: AcquireStep, holders: readonly { readonly mode: string }[]): boolean {
  if (limit === undefined) return holders.length === 0;
  return holders.length < limit && holders.every(({ mode }) => mode === 'shared');
}
