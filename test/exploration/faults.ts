import { oneRedisFaults } from '../simulation/deliberate-faults/one-redis.faults.js';
import type { DeliberateFault } from '../simulation/deliberate-faults/deliberate-fault.js';
import type { Plan } from './explore.js';

const most = 40_000;
const exclusive = { instances: 2, callers: [{ at: 0 }, { at: 1 }], most };
const three = {
  instances: 2,
  callers: [0, 1, 1].map((at) => ({ at, mode: 'shared' as const, limit: 2 })),
  limit: 2,
  most,
};

function plan(fault: string, rest: Omit<Plan, 'title'>): { fault: DeliberateFault; plan: Plan } {
  const found = oneRedisFaults.find((each) => each.fault === fault);
  if (!found) throw new Error(`There is no fault: ${fault}`);
  return { fault: found, plan: { title: fault, ...rest } };
}

/** Deliberate faults that concern one name, each with the small world that shows it. */
export const faultsOfOneName = [
  plan('the deadline of a grant counts from the reply', { ...exclusive, budget: { tick: 1 } }),
  plan('a release ends the lease of any holder', { ...exclusive, budget: { tick: 2 } }),
  plan('the deadline of a hand-off counts from its arrival', { ...exclusive, budget: { tick: 1 } }),
  plan('a waiter does not ask again', { ...exclusive, budget: { fault: 1 } }),
  plan('an acquire returns a hold that its instance has released', {
    ...exclusive,
    callers: [{ at: 0 }, { at: 0 }],
    budget: { fault: 1 },
  }),
  plan('more permits than the limit are granted', { ...three, budget: {} }),
  plan('a forced release does not notify the holder', { ...exclusive, budget: { force: 1 } }),
  plan('no token floor: a hand-off from before the last reply is used', {
    ...exclusive,
    budget: { fault: 1, tick: 1 },
  }),
];
