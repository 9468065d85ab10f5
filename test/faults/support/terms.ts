import type { Terms } from './contender.worker.js';

type AnyOf = readonly [Terms, ...Terms[]];

/** Calls for one, two and three of four permits. */
export const SEVERAL_PERMITS: AnyOf = [
  { mode: 'shared', limit: 4 },
  { mode: 'shared', limit: 4, permits: 2 },
  { mode: 'shared', limit: 4, permits: 3 },
];

export const MIXED_LIMITS: AnyOf = [
  { mode: 'shared', limit: 3 },
  { mode: 'shared', limit: 2 },
  { mode: 'shared', limit: 1 },
  { mode: 'exclusive' },
];
