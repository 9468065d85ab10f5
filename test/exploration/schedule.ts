import { inspect } from 'node:util';
import { movesOf } from './moves.js';
import { repeatable } from './repeatable.js';
import { brokenRest, brokenRule } from './rules.js';
import { type Budget, type CallerPlan, NOTHING, World } from './world.js';

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

/**
 * Makes the steps of a schedule, and returns the rule that is broken on the way; an empty text if none is. Omits steps
 * that are impossible, because a correction of the code can change what happens.
 */
export function replay(plan: Omit<Plan, 'title'>, schedule: readonly string[]): Promise<string> {
  return repeatable(() => play(plan, schedule));
}

async function play(plan: Omit<Plan, 'title'>, schedule: readonly string[]): Promise<string> {
  const budget = { ...NOTHING, ...plan.budget };
  const world = firstOf(plan);
  for (const step of schedule) {
    const move = movesOf(world).moves.find(({ text }) => text === step);
    if (!move) continue;
    await world.make(move);
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
  return `  it(${inspect(`never: ${problem}`)}, async () => {
    const found = await replay(${texts.join(', ')});
    expect(found).toBe('');
  });
`;
}
