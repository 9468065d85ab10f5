import { areMost, PassingRefusal, StoreRefusal } from './lock-store.js';

/** What the store said where it answered with an error, now or when it was connected to; undefined for an outage. */
export function refusalReason(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error instanceof StoreRefusal || error instanceof PassingRefusal)
    return error.message.replace(/\.$/, '');
  if (!(error instanceof AggregateError)) return refusalReason(error.cause);
  return areMost(error, (each) => refusalReason(each) !== undefined) ? error.message : undefined;
}
