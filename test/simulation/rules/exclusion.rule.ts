import type { Attempt } from '../attempt.js';
import { mayHoldTogether } from '../../support/may-hold-together.js';
import type { Court, Rule } from './court.js';

/** Only those hold one name at the same time that may, and nobody begins before those before it have been told. */
export class ExclusionRule implements Rule {
  constructor(private readonly court: Court) {}

  granted(attempt: Attempt): void {
    const { attempts, expectations, fail } = this.court;
    if (!expectations.exclusive) return;
    const untold = attempts.filter(
      (other) =>
        other !== attempt &&
        other.step.name === attempt.step.name &&
        other.state === 'holding' &&
        other.process.awake &&
        !other.lock?.signal.aborted,
    );
    if (mayHoldTogether([attempt, ...untold].map(({ step }) => step))) return;
    const others = untold.map(({ caller }) => caller).join(', ');
    fail(
      `${attempt.caller} holds ${attempt.step.name}, and has to share it with ${others}, not told otherwise`,
    );
  }

  afterEvent(live: readonly Attempt[]): void {
    const { names, expectations, fail } = this.court;
    if (!expectations.exclusive) return;
    for (const name of names) {
      const holders = live.filter(({ step, lock }) => step.name === name && lock?.held);
      if (mayHoldTogether(holders.map(({ step }) => step))) continue;
      fail(`${holders.map(({ caller }) => caller).join(' and ')} hold ${name} at the same time`);
    }
  }
}
