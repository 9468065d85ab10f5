import type { Contender } from './contender.js';

/** What a contender does when its parent process asks it to. */
export type ContenderCalls = Pick<
  Contender,
  'ready' | 'startRush' | 'endRush' | 'cut' | 'startWork' | 'endWork' | 'untilWorkEnds' | 'tryWithReplica'
>;
