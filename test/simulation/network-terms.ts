import type { CallStep } from './once/once-schedule.js';
import type { Schedule, TimedStep } from './schedule.js';

/** What one Redis and its network need of a schedule, whoever its callers are. */
export interface NetworkTerms extends Omit<Schedule, 'steps'> {
  readonly steps: readonly (TimedStep | (CallStep & { readonly after: number }))[];
}
