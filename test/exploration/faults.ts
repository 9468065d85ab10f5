import { oneRedisFaults, refusalFaults } from '../simulation/deliberate-faults/one-redis.faults.js';
import { onceFaults } from '../simulation/deliberate-faults/once.faults.js';
import type { DeliberateFault } from '../simulation/deliberate-faults/deliberate-fault.js';
import type { Plan } from './explore.js';

const exclusive = { callers: [{ at: 0 }, { at: 1 }] };
const permits = { callers: [0, 1, 1].map((at) => ({ at, mode: 'shared' as const, limit: 2 })), limit: 2 };
const mixed = { callers: [{ at: 0, mode: 'shared' as const }, { at: 1 }] };

interface Shown {
  readonly fault: DeliberateFault;
  readonly plan: Plan;
}

const passed = [{ at: 0, role: 'passes' as const }, ...[0, 1].map((at) => ({ at, role: 'takes' as const }))];

const runners = [0, 1].map((at) => ({ at, role: 'runs once' as const }));

function plan(fault: string, rest: Omit<Plan, 'title'>): Shown {
  const found = [...oneRedisFaults, ...refusalFaults, ...onceFaults].find((each) => each.fault === fault);
  if (!found) throw new Error(`There is no fault: ${fault}`);
  return { fault: found, plan: { title: fault, ...rest } };
}

/** Deliberate faults that concern one name, each with the small world that shows it. */
export const faultsOfOneName: readonly [Shown, ...Shown[]] = [
  plan('the deadline of a grant counts from the reply', { ...exclusive, budget: { tick: 1 } }),
  plan('a release ends the lease of any holder', { ...exclusive, budget: { tick: 2 } }),
  plan('the deadline of a hand-off counts from its arrival', { ...exclusive, budget: { tick: 1 } }),
  plan('a waiter does not ask again', { ...exclusive, budget: { fault: 1 } }),
  plan('an acquire returns a hold that its instance has released', {
    callers: [{ at: 0 }, { at: 0 }],
    budget: { fault: 1 },
  }),
  plan('more permits than the limit are granted', { ...permits, budget: {} }),
  plan('a forced release does not notify the holder', { ...exclusive, budget: { force: 1 } }),
  plan('no token floor: a hand-off from before the last reply is used', {
    ...exclusive,
    budget: { fault: 1, tick: 1 },
  }),
  plan('an instance does not adopt its own grant after a lost reply', { ...exclusive, budget: { fault: 1 } }),
  plan('a waiter that gives up stays in the queue', { ...exclusive, budget: { abort: 1 } }),
  plan('an acquire takes a free lock without a look at the queue', { ...exclusive, budget: { tick: 1 } }),
  plan('a writer is admitted beside readers', { ...mixed, budget: {} }),
  plan('a lock whose yield is refused for good is not released', {
    callers: [{ at: 0 }, { at: 0 }, { at: 0 }],
    budget: { refusal: 1 },
  }),
  plan('a refused request makes an instance forget an earlier one', {
    callers: [{ at: 0 }],
    budget: { fault: 1, refusal: 1, tick: 1 },
  }),
  plan('a refused request makes an instance forget its first copy', {
    callers: [{ at: 0 }],
    budget: { cut: 1, refusal: 1 },
  }),
  plan('two instances attach one detached hold', { callers: passed, budget: {} }),
  plan('a waiter without a notification runs again', { callers: runners, budget: {} }),
  plan('a repeated request to keep a result is rejected', { callers: runners, budget: { fault: 1 } }),
  plan('a waiter treats a failed run as done', {
    callers: [{ at: 0, role: 'fails' }, ...runners],
    budget: {},
  }),
];
