import type { LockHolder } from '../../errors/lock-timeout.error.js';
import type { Taken } from '../../store/grant.js';
import type { Lease } from '../hold/lease.js';

const NO_LABEL = { label: undefined };

/** Who has a lock, as far as that is known here: a hold of this instance, or whom the store told of last. */
export function knownHolder(
  alone: Lease | undefined,
  found: Taken | undefined,
  now: number,
): LockHolder | undefined {
  if (!alone) return found && { owner: found.owner, remaining: found.remaining };
  const { owner, deadline, hold } = alone;
  const [{ label } = NO_LABEL] = hold?.describe(now) ?? [];
  return { owner, remaining: Math.max(0, deadline - now), ...(label === undefined ? {} : { label }) };
}
