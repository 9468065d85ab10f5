import type { Plan } from './explore.js';

const PERMIT = { mode: 'shared', limit: 2 } as const;
const most = 100_000;

/** What `npm test` explores whole. */
export const smallWorlds: readonly Plan[] = [
  {
    title: '2 instances, 1 exclusive caller each, 1 fault',
    instances: 2,
    callers: [{ at: 0 }, { at: 1 }],
    budget: { fault: 1 },
    most,
  },
  {
    title: '1 instance, 2 exclusive callers, 1 fault',
    instances: 1,
    callers: [{ at: 0 }, { at: 0 }],
    budget: { fault: 1 },
    most,
  },
  {
    title: '2 instances, 3 callers for 2 permits, no fault',
    instances: 2,
    callers: [
      { at: 0, ...PERMIT },
      { at: 1, ...PERMIT },
      { at: 1, ...PERMIT },
    ],
    budget: {},
    limit: 2,
    most,
  },
];

const exclusive = [{ at: 0 }, { at: 1 }];
const attempts = [{ at: 0 }, { at: 1, wait: 0 }];
const readers = [
  { at: 0, mode: 'shared' as const },
  { at: 1, mode: 'shared' as const },
];
const permits = [
  { at: 0, ...PERMIT },
  { at: 1, ...PERMIT },
];

/** What `npm run test:exploration` explores beyond. */
export const largerWorlds: readonly Plan[] = [
  { title: 'exclusive, 1 step of time', instances: 2, callers: exclusive, budget: { tick: 1 }, most },
  {
    title: 'exclusive, 1 fault, 1 step of time',
    instances: 2,
    callers: exclusive,
    budget: { fault: 1, tick: 1 },
    most,
  },
  {
    title: 'exclusive, 1 abort, 1 step of time',
    instances: 2,
    callers: exclusive,
    budget: { abort: 1, tick: 1 },
    most,
  },
  { title: 'exclusive, forced release', instances: 2, callers: exclusive, budget: { force: 1 }, most },
  { title: 'exclusive, shutdown', instances: 2, callers: exclusive, budget: { close: 1, fault: 1 }, most },
  { title: 'an attempt, 1 fault', instances: 2, callers: attempts, budget: { fault: 1 }, most },
  { title: 'shared, 1 fault', instances: 2, callers: readers, budget: { fault: 1 }, most },
  { title: 'permits, 1 fault', instances: 2, callers: permits, budget: { fault: 1 }, limit: 2, most },
  { title: 'exclusive, 2 faults', instances: 2, callers: exclusive, budget: { fault: 2 }, most },
].map((plan) => ({ ...plan, title: `2 instances, 1 caller each: ${plan.title}` }));
