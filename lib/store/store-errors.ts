import type { Grant, ReplicaDemand } from './grant.js';

/** An error reply that a retry cannot fix: wrong credentials, missing rights, a key of another type. */
export class StoreRefusal extends Error {
  override readonly name = 'StoreRefusal';
}

/** An error reply that may pass: the store lacks memory, loads its data, or currently rejects writes. */
export class PassingRefusal extends Error {
  override readonly name = 'PassingRefusal';
}

/** Whether a retry is useless; for several servers, whether most of them refused. */
export function isRefusal(error: unknown): boolean {
  if (error instanceof StoreRefusal) return true;
  if (!(error instanceof AggregateError)) return false;
  return areMost(error, (each) => each instanceof Error && isRefusal(each.cause));
}

/** Whether most of the errors of several servers meet a condition. */
function areMost({ errors }: AggregateError, condition: (error: unknown) => boolean): boolean {
  return errors.filter((each: unknown) => condition(each)).length * 2 > errors.length;
}

/** The lock was granted, but too few replicas confirmed in time. The grants still exist and must be released. */
export class TooFewReplicas extends Error {
  override readonly name = 'TooFewReplicas';

  constructor(
    readonly grants: readonly Grant[],
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

/** The text of an error reply, now or at the connect; undefined for an outage. */
export function refusalReason(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error instanceof StoreRefusal || error instanceof PassingRefusal)
    return error.message.replace(/\.$/, '');
  if (!(error instanceof AggregateError)) return refusalReason(error.cause);
  return areMost(error, (each) => refusalReason(each) !== undefined) ? error.message : undefined;
}

/** Errors of OpenSSL and of Node about a TLS handshake. They name no address. */
export const HANDSHAKE_FAILED = /certificate|SSL routines|secure TLS connection/;
