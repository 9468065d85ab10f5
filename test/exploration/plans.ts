import type { Plan } from './explore.js';
import type { CallerPlan } from './world.js';

type Callers = readonly CallerPlan[];

const PERMIT = { mode: 'shared', limit: 2 } as const;
const BOTH = { ...PERMIT, permits: 2 } as const;
const READER = { mode: 'shared' } as const;

/** One caller at each of these instances, with equal options. */
function at(instances: readonly number[], options: Omit<CallerPlan, 'at'> = {}): Callers {
  return instances.map((instance) => ({ at: instance, ...options }));
}

function plan(title: string, callers: Callers, budget: Plan['budget'] = {}): Plan {
  const limit = callers[0]?.limit;
  return limit === undefined ? { title, callers, budget } : { title, callers, budget, limit };
}

const two = at([0, 1]);
const readerAndWriter: Callers = [...at([0]), ...at([1], READER)];

const once = { role: 'runs once' } as const;
const passer: CallerPlan = { at: 0, role: 'passes' };
const taker: CallerPlan = { at: 1, role: 'takes' };

/** What `npm test` explores whole. Titles have the number of instances × the number of callers in each. */
export const smallWorlds: readonly Plan[] = [
  plan('2 × 1 exclusive, 1 fault', two, { fault: 1 }),
  plan('1 × 1 exclusive, 1 fault, 1 refusal, 1 time step', at([0]), { fault: 1, refusal: 1, tick: 1 }),
  plan('1 × 3 exclusive, 1 fault, 1 refusal', at([0, 0, 0]), { fault: 1, refusal: 1 }),
  plan('1 × 2 exclusive, 1 fault, 1 abort', at([0, 0]), { fault: 1, abort: 1 }),
  plan('3 × 1 exclusive', at([0, 1, 2])),
  plan('2 instances, 3 callers for 2 permits', at([0, 1, 1], PERMIT)),
  plan('2 × 1 for 2 permits, one takes both', [...at([0], PERMIT), ...at([1], BOTH)]),
  plan('2 × 1 of once', at([0, 1], once)),
  plan('a transfer, 1 fault', [passer, taker], { fault: 1 }),
  plan('a transfer, 1 refusal', [passer, taker], { refusal: 1 }),
  plan('a transfer beside a waiter', [passer, taker, { at: 1 }]),
];

/** What `npm run test:exploration` explores whole beyond, with exclusive holds. */
export const exclusiveWorlds: readonly Plan[] = [
  plan('2 × 1 exclusive, 2 faults', two, { fault: 2 }),
  plan('2 × 1 exclusive, 1 time step', two, { tick: 1 }),
  plan('2 × 1 exclusive, 1 abort, 1 time step', two, { abort: 1, tick: 1 }),
  plan('2 × 1 exclusive, forced release, 1 fault', two, { force: 1, fault: 1 }),
  plan('2 × 1 exclusive, shutdown, 1 fault', two, { close: 1, fault: 1 }),
  plan('2 × 1 exclusive, reconnect, 1 fault', two, { cut: 1, fault: 1 }),
  plan('2 × 1 exclusive, reconnect, 1 refusal', two, { cut: 1, refusal: 1 }),
  plan('2 × 1 exclusive, 1 fault, 1 refusal', two, { fault: 1, refusal: 1 }),
  plan('1 × 2 exclusive, 1 fault, 1 refusal, 1 time step', at([0, 0]), { fault: 1, refusal: 1, tick: 1 }),
  plan('3 callers in 2 instances, 2 refusals', at([0, 0, 1]), { refusal: 2 }),
  plan('2 × 1 exclusive with replicas, 2 faults', at([0, 1], { replicas: { min: 1, timeout: 10 } }), {
    fault: 2,
  }),
  plan('2 × 1 exclusive, one attempts, 2 faults', [...at([0]), ...at([1], { wait: 0 })], { fault: 2 }),
];

/** What `npm run test:exploration` explores whole beyond: shared holds, renewals, transfers and `once`. */
export const furtherWorlds: readonly Plan[] = [
  plan('2 × 1 shared, 2 faults', at([0, 1], READER), { fault: 2 }),
  plan('2 × 1 for 2 permits, one takes both, 1 fault', [...at([0], PERMIT), ...at([1], BOTH)], { fault: 1 }),
  plan('1 × 1 exclusive, 3 time steps', at([0]), { tick: 3 }),
  plan('1 × 1 exclusive, 1 fault, 2 time steps', at([0]), { fault: 1, tick: 2 }),
  plan('a transfer, 1 fault, 1 time step', [passer, taker], { fault: 1, tick: 1 }),
  plan('a transfer to one of 2 takers, 1 fault', [passer, { at: 0, role: 'takes' }, taker], { fault: 1 }),
  plan('2 × 1 of once, 1 fault', at([0, 1], once), { fault: 1 }),
  plan('2 × 1 of once and 1 that fails', [...at([0, 1], once), { at: 0, role: 'fails' }]),
  plan('2 × 2 of once', at([0, 0, 1, 1], once)),
];

/** What `npm run test:exploration` explores whole beyond. Each of these takes minutes, some an hour. */
export const largestWorlds: readonly Plan[] = [
  plan('1 × 2 exclusive, 2 faults, 1 time step', at([0, 0]), { fault: 2, tick: 1 }),
  plan('2 × 2 exclusive, 1 fault', at([0, 0, 1, 1]), { fault: 1 }),
  plan('1 × 2 exclusive on each of 2 names, 1 fault', [...at([0, 0]), ...at([0, 0], { of: 1 })], {
    fault: 1,
  }),
  plan('2 × 1 exclusive on each of 2 names', [...two, ...at([0, 1], { of: 1 })]),
  plan('2 × 1 attempts, 1 fault, 1 time step', at([0, 1], { wait: 0 }), { fault: 1, tick: 1 }),
  plan('3 × 1 for 2 permits, 1 fault', at([0, 1, 2], PERMIT), { fault: 1 }),
  plan('2 instances, 3 callers for 2 permits, 1 fault', at([0, 1, 1], PERMIT), { fault: 1 }),
  plan('2 × 2 of once, 1 fault', at([0, 0, 1, 1], once), { fault: 1 }),
  plan('1 reader, 1 writer, 1 fault, 1 refusal', readerAndWriter, { fault: 1, refusal: 1 }),
  plan('2 × 1 exclusive, 1 fault, 1 time step', two, { fault: 1, tick: 1 }),
  plan('2 × 1 exclusive, reconnect, 1 time step', two, { cut: 1, tick: 1 }),
  plan('2 × 1 exclusive, 2 time steps', two, { tick: 2 }),
  plan('1 × 2 exclusive, 1 fault, 2 time steps', at([0, 0]), { fault: 1, tick: 2 }),
  plan('3 × 1 exclusive, 2 faults', at([0, 1, 2]), { fault: 2 }),
  plan('2 × 1 shared, 1 fault, 1 time step', at([0, 1], READER), { fault: 1, tick: 1 }),
  plan('1 reader, 1 writer, 1 fault, 1 time step', readerAndWriter, { fault: 1, tick: 1 }),
];
