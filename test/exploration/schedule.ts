import { inspect } from 'node:util';
import { type Move, movesOf } from './moves.js';
import { brokenRest, brokenRule, isHeld } from './rules.js';
import { sure } from './sure.js';
import { type Budget, type CallerPlan, NOTHING, World } from './world.js';
import { enter } from './world-server.js';

/** A small world to explore. */
export interface Plan {
  readonly title: string;
  readonly callers: readonly CallerPlan[];
  readonly budget: Partial<Budget>;
  /** Maximum number of simultaneous holds, where callers share the lock. */
  readonly limit?: number;
}

/** The state in which a plan begins. */
export function firstOf({ callers, budget }: Pick<Plan, 'callers' | 'budget'>): World {
  return new World(callers, budget);
}

/** The successor of a world after a step. */
export function made(world: World, { make }: Move): World {
  const after = world.fork();
  enter(after);
  make(after);
  after.sites.forEach(({ callers }, i) =>
    callers.forEach((caller, n) => {
      if (caller.phase === 'holds' && !caller.isOver && !isHeld(after, caller))
        sure(after.site(i).callers[n]).isOver = true;
    }),
  );
  return after;
}

/**
 * Makes the steps of a schedule, and returns the rule that is broken on the way; an empty text if none is. Omits steps
 * that are impossible, because a correction of the code can change what happens.
 */
export function replay(plan: Omit<Plan, 'title'>, schedule: readonly string[]): string {
  const budget = { ...NOTHING, ...plan.budget };
  let world = firstOf(plan);
  for (const step of schedule) {
    enter(world);
    const move = movesOf(world).moves.find(({ text }) => text === step);
    if (!move) continue;
    world = made(world, move);
    const broken = brokenRule(world, budget, plan.limit ?? Infinity);
    if (broken) return broken;
    if (!movesOf(world).isQuiet) continue;
    const atRest = brokenRest(world);
    if (atRest) return atRest;
  }
  return '';
}

/** A schedule as a test case. */
export function caseOf(plan: Plan, problem: string, schedule: readonly string[]): string {
  const { budget, callers, limit } = plan;
  const texts = [limit === undefined ? { callers, budget } : { callers, budget, limit }, schedule].map(
    (each) =>
      inspect(each, { depth: null, maxArrayLength: null, breakLength: 100 }).replaceAll('\n', '\n    '),
  );
  return `  it(${inspect(`never: ${problem}`)}, () => {
    const found = replay(${texts.join(', ')});
    expect(found).toBe('');
  });
`;
}
