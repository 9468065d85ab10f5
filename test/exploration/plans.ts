import type { Plan } from './explore.js';

const PERMIT = { mode: 'shared', limit: 2 } as const;
const READER = { mode: 'shared' } as const;
const ATTEMPT = { wait: 0 } as const;
const REPLICATED = { replicas: { min: 1, timeout: 10 } } as const;

const one: Plan['callers'] = [{ at: 0 }, { at: 1 }];
const both = (options: object): Plan['callers'] => one.map(({ at }) => ({ at, ...options }));

/** What `npm test` explores whole. */
export const smallWorlds: readonly Plan[] = [
  { title: '2 instances, 1 exclusive caller each, 1 fault', callers: one, budget: { fault: 1 } },
  { title: '2 instances, 1 exclusive caller each, 1 time step', callers: one, budget: { tick: 1 } },
  {
    title: '1 instance, 2 exclusive callers, 1 fault, 1 abort',
    callers: [{ at: 0 }, { at: 0 }],
    budget: { fault: 1, abort: 1 },
  },
  {
    title: '2 instances, 3 callers for 2 permits',
    callers: [0, 1, 1].map((at) => ({ at, ...PERMIT })),
    budget: {},
    limit: 2,
  },
];

/** What `npm run test:exploration` explores whole beyond. */
export const largerWorlds: readonly Plan[] = [
  { title: '2 x 1 exclusive, 2 faults', callers: one, budget: { fault: 2 } },
  { title: '2 x 1 exclusive, 1 fault, 1 time step', callers: one, budget: { fault: 1, tick: 1 } },
  { title: '2 x 1 exclusive, 1 abort, 1 time step', callers: one, budget: { abort: 1, tick: 1 } },
  { title: '2 x 1 exclusive, forced release, 1 fault', callers: one, budget: { force: 1, fault: 1 } },
  { title: '2 x 1 exclusive, shutdown, 1 fault', callers: one, budget: { close: 1, fault: 1 } },
  { title: '2 x 1 exclusive, reconnect, 1 fault', callers: one, budget: { cut: 1, fault: 1 } },
  { title: '2 x 1 exclusive, reconnect, 1 time step', callers: one, budget: { cut: 1, tick: 1 } },
  {
    title: '2 x 1 exclusive, an attempt, 2 faults',
    callers: [{ at: 0 }, { at: 1, ...ATTEMPT }],
    budget: { fault: 2 },
  },
  { title: '2 x 1 attempts, 1 fault, 1 time step', callers: both(ATTEMPT), budget: { fault: 1, tick: 1 } },
  { title: '2 x 1 shared, 2 faults', callers: both(READER), budget: { fault: 2 } },
  { title: '2 x 1 shared, 1 time step', callers: both(READER), budget: { tick: 1 } },
  {
    title: 'a reader and a writer, 1 fault',
    callers: [{ at: 0 }, { at: 1, ...READER }],
    budget: { fault: 1 },
  },
  {
    title: 'a reader and a writer, 1 time step',
    callers: [{ at: 0 }, { at: 1, ...READER }],
    budget: { tick: 1 },
  },
  {
    title: '1 x 2 exclusive, 2 faults, 1 time step',
    callers: [{ at: 0 }, { at: 0 }],
    budget: { fault: 2, tick: 1 },
  },
  {
    title: '1 x 2 exclusive, 1 fault, 2 time steps',
    callers: [{ at: 0 }, { at: 0 }],
    budget: { fault: 1, tick: 2 },
  },
  { title: '3 x 1 exclusive', callers: [{ at: 0 }, { at: 1 }, { at: 2 }], budget: {} },
  { title: '3 x 1 exclusive, 1 fault', callers: [{ at: 0 }, { at: 1 }, { at: 2 }], budget: { fault: 1 } },
  { title: '3 x 1 permits of 2', callers: [0, 1, 2].map((at) => ({ at, ...PERMIT })), budget: {}, limit: 2 },
  {
    title: '2 instances, 3 callers for 2 permits, 1 fault',
    callers: [0, 1, 1].map((at) => ({ at, ...PERMIT })),
    budget: { fault: 1 },
    limit: 2,
  },
  {
    title: '1 instance, 2 names, 2 exclusive each, 1 fault',
    callers: [0, 0, 1, 1].map((of) => ({ at: 0, of })),
    budget: { fault: 1 },
  },
  {
    title: '2 x 1 on each of 2 names',
    callers: [0, 1].flatMap((of) => one.map(({ at }) => ({ at, of }))),
    budget: {},
  },
  { title: '2 x 1 exclusive with replicas, 2 faults', callers: both(REPLICATED), budget: { fault: 2 } },
  { title: '3 x 1 exclusive, 2 faults', callers: [{ at: 0 }, { at: 1 }, { at: 2 }], budget: { fault: 2 } },
  {
    title: '3 x 1 for 2 permits, 1 fault',
    callers: [0, 1, 2].map((at) => ({ at, ...PERMIT })),
    budget: { fault: 1 },
    limit: 2,
  },
  { title: '2 x 2 exclusive, 1 fault', callers: [0, 0, 1, 1].map((at) => ({ at })), budget: { fault: 1 } },
  {
    title: 'a reader and a writer, 1 fault, 1 time step',
    callers: [{ at: 0 }, { at: 1, ...READER }],
    budget: { fault: 1, tick: 1 },
  },
];
