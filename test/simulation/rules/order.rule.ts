import type { Attempt } from '../attempt.js';
import { CLOCK_SLACK, type Court, type Rule, TIMER_SLACK } from './court.js';

/** No instance overtakes another one that the servers know to wait for the lock alone. */
export class OrderRule implements Rule {
  constructor(private readonly court: Court) {}

  granted(attempt: Attempt): void {
    const { attempts, expectations, fail, servers, time } = this.court;
    const cameAt = time.now - ageOf(attempt);
    // While votes are split, nodes know of different waiters.
    if (!expectations.orderly || !attempt.fresh || servers.contendedUntil > cameAt) return;
    const known = 6 * servers.longestTrip + servers.clockSpread + TIMER_SLACK + CLOCK_SLACK;
    const overtaken = attempts.find(
      (other) =>
        other.state === 'waiting' &&
        other.fresh &&
        other.names.length === 1 &&
        other.step.wait > 0 &&
        other.step.limit === undefined &&
        other.step.name === attempt.step.name &&
        other.process !== attempt.process &&
        ageOf(other) > ageOf(attempt) + known,
    );
    if (overtaken) fail(`${attempt.caller} overtook ${overtaken.caller} of another instance`);
  }
}

/** How long ago it began to wait, in true milliseconds. */
function ageOf({ process, startedAt }: Attempt): number {
  return (process.now() - startedAt) / process.rate;
}
