import type { Grant, ReplicaDemand } from './grant.js';

/** The store answered with an error that asking again cannot cure: wrong credentials, missing rights, a foreign type of key. */
export class StoreRefusal extends Error {
  override readonly name = 'StoreRefusal';
}

/** The store answered with an error that may pass: it is short of memory, loads its data, or takes no writes just now. */
export class PassingRefusal extends Error {
  override readonly name = 'PassingRefusal';
}

/** Whether asking again is of no use: a store that asks several servers says so when most of them refuse. */
export function isRefusal(error: unknown): boolean {
  if (error instanceof StoreRefusal) return true;
  if (!(error instanceof AggregateError)) return false;
  return areMost(error, (each) => each instanceof Error && isRefusal(each.cause));
}

/** Whether most of the errors of several servers meet a condition. */
function areMost({ errors }: AggregateError, condition: (error: unknown) => boolean): boolean {
  return errors.filter((each: unknown) => condition(each)).length * 2 > errors.length;
}

/** The lock was granted, but too few replicas learnt of it in time. The grant still stands, and has to be given back. */
export class TooFewReplicas extends Error {
  override readonly name = 'TooFewReplicas';

  constructor(
    readonly grant: Grant,
    readonly demand: ReplicaDemand,
    options?: ErrorOptions,
  ) {
    super(
      `Fewer than ${demand.min} replicas confirmed the grant within ${demand.timeout} ms (option replicas): ` +
        'are they connected, and is replicas.timeout long enough for them?',
      options,
    );
  }
}

/** What the store said where it answered with an error, now or when it was connected to; undefined for an outage. */
export function refusalReason(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error instanceof StoreRefusal || error instanceof PassingRefusal)
    return error.message.replace(/\.$/, '');
  if (!(error instanceof AggregateError)) return refusalReason(error.cause);
  return areMost(error, (each) => refusalReason(each) !== undefined) ? error.message : undefined;
}
