import { LAST_PART } from '../../../lib/primitives/wake-up.js';
import type { Attempt } from '../attempt.js';
import { type Court, type Rule, TIMER_SLACK } from './court.js';

/**
 * Whoever waits is answered when its time is over, at once when it gives up, and in arrival order within an instance. Callers
 * of several names are overtaken while another of their names is taken.
 */
export class WaitRule implements Rule {
  constructor(private readonly court: Court) {}

  granted(attempt: Attempt): void {
    const { attempts, fail } = this.court;
    const overtaken = attempts.find(
      ({ state, process, step, names, begunAs }) =>
        state === 'waiting' &&
        names.length === 1 &&
        process === attempt.process &&
        step.name === attempt.step.name &&
        begunAs < attempt.begunAs,
    );
    if (overtaken) fail(`${attempt.caller} overtook ${overtaken.caller} within one instance`);
  }

  afterEvent(live: readonly Attempt[]): void {
    const { fail } = this.court;
    for (const { caller, state, process, step, startedAt } of live) {
      if (state === 'aborted') fail(`${caller} gave up and is still waiting`);
      if (state !== 'waiting') continue;
      const limit = step.wait === 0 ? step.outageTimeout : step.wait;
      // After the process was stopped, an answer to what it had not yet sent has some time to come.
      const due = Math.max(startedAt + limit, process.wokeAt + LAST_PART);
      // The timer of an answer is three timers, and a name that was idle begins one when its answer is late.
      if (process.now() > due + 3 * TIMER_SLACK)
        fail(`${caller} still waits for ${step.name} after ${limit} ms`);
    }
  }
}
