import type { Lock } from '../../../lib/engine/hold/lock.interface.js';
import type { Attempt } from '../attempt.js';
import type { Court, Rule } from './court.js';

/**
 * A hold that was granted later has a greater token, and no two have the same.
 *
 * Where the server loses its data, or two share the name, only one that was asked for later, by an instance without a
 * lock, is sure to be younger: another instance may pass on a hold from before, or hear of it late. Among
 * shared holds, a late request can leave one that a later caller uses; no writer comes in between.
 */
export class TokenRule implements Rule {
  constructor(private readonly court: Court) {}

  granted(attempt: Attempt, { fencingToken }: Lock): void {
    const { attempts, expectations, fail } = this.court;
    for (const other of attempts) {
      if (other === attempt || other.step.name !== attempt.step.name || !other.lock) continue;
      const token = other.lock.fencingToken;
      if (token === fencingToken) fail(`${attempt.caller} and ${other.caller} have the same token ${token}`);
      const inTurn = attempt.step.limit === undefined || other.step.limit === undefined;
      const { exclusive, tidy, undisturbed } = expectations;
      const isYounger = attempt.fresh && other.grantedAs < attempt.begunAs;
      const earlier = (exclusive && inTurn) || (isYounger && (inTurn || tidy || undisturbed));
      if (earlier && token > fencingToken)
        fail(`${attempt.caller} has token ${fencingToken} after ${other.caller}'s ${token}`);
    }
  }
}
