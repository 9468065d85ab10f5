import type { Attempt } from '../attempt.js';
import type { Court, Rule } from './court.js';

/** Holds of one name exclude each other, and nobody begins before the one before it has been told. */
export class ExclusionRule implements Rule {
  constructor(private readonly court: Court) {}

  granted(attempt: Attempt): void {
    const { attempts, expectations, fail } = this.court;
    if (!expectations.exclusive) return;
    for (const other of attempts) {
      if (other === attempt || other.step.name !== attempt.step.name || other.state !== 'holding') continue;
      if (other.process.awake && !other.lock?.signal.aborted)
        fail(`${attempt.caller} holds ${attempt.step.name}, and ${other.caller} has not been told`);
    }
  }

  afterEvent(live: readonly Attempt[]): void {
    const { names, expectations, fail } = this.court;
    if (!expectations.exclusive) return;
    for (const name of names) {
      const holders = live.filter(({ step, lock }) => step.name === name && lock?.held);
      if (holders.length < 2) continue;
      fail(`${holders.map(({ caller }) => caller).join(' and ')} hold ${name} at the same time`);
    }
  }
}
