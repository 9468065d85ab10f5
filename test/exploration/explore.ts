import { keyOf } from './key.js';
import { movesOf } from './moves.js';
import { brokenRest, brokenRule } from './rules.js';
import { caseOf, firstOf, type Plan } from './schedule.js';
import { repeatable } from './repeatable.js';
import { sure } from './sure.js';
import { type Move, NOTHING, type World } from './world.js';

export type { Plan } from './schedule.js';

export interface Exploration {
  /** The broken rule; empty if none is. */
  readonly problem: string;
  /** The shortest schedule that breaks it. */
  readonly schedule: readonly string[];
  readonly states: number;
  readonly transitions: number;
  readonly depth: number;
  readonly seconds: number;
  /** Whether every state of the plan was visited. */
  readonly isWhole: boolean;
}

/** A state whose steps are to be made, by their numbers. */
interface Found {
  readonly number: number;
  readonly choices: readonly number[];
  readonly problem: string;
  world: World | undefined;
}

interface Task {
  readonly from: Found;
  readonly choice: number;
}

interface Made extends Task {
  readonly world: World;
  readonly problem: string;
  readonly key: string;
}

/** Number of worlds in which steps are made at the same time, and of those that are kept for their next step. */
const BATCH = 50;
const MOST_LIVE = 300;
/** More states than in any of the plans: a world without an end fails instead of using up the memory. */
const MOST = 1_000_000;

/**
 * Visits every state that a plan can reach, breadth first, and checks the rules in each. Instances run in promises and
 * timers of their own, so a state cannot be copied: the steps that lead to it are made again from the beginning.
 *
 * In each state in which nothing else can happen, time passes without further faults. The schedules without faults from
 * any state are therefore among those that are visited. All of them come to rest if the states without a successor are
 * at rest, and no schedule leads back to a state.
 */
export function explore(plan: Plan, most = MOST): Promise<Exploration> {
  return repeatable(() => visit(plan, most));
}

async function visit(plan: Plan, most: number): Promise<Exploration> {
  const began = performance.now();
  const budget = { ...NOTHING, ...plan.budget };
  const steps = new Steps();
  const first = firstOf(plan);
  const numbers = new Map([[keyOf(first), 0]]);
  const parents = [-1];
  const choices = [-1];
  const edges: Edge[] = [];
  let depth = 0;
  const result = (problem: string, path: readonly number[] = [], isWhole = false): Exploration => {
    const seconds = (performance.now() - began) / 1_000;
    const transitions = edges.length;
    return {
      problem,
      schedule: steps.texts(path),
      states: parents.length,
      transitions,
      depth,
      seconds,
      isWhole,
    };
  };
  let live = 0;
  let level = [found(first, 0)];
  while (level.length > 0) {
    const tasks = level.flatMap((from) => from.choices.map((choice) => ({ from, choice })));
    const following: Found[] = [];
    for (let n = 0; n < tasks.length; n += BATCH) {
      // Worlds wait for their promises together.
      const batch = await Promise.all(tasks.slice(n, n + BATCH).map(make));
      for (const { from, choice, world, problem, key } of batch) {
        if (problem) return result(problem, [...pathTo(from.number), choice]);
        let known = numbers.get(key);
        if (known === undefined) {
          known = parents.length;
          numbers.set(key, known);
          parents.push(from.number);
          choices.push(choice);
          const state = found(world, known);
          if (state.problem) return result(state.problem, pathTo(known));
          following.push(state);
        }
        edges.push([from.number, known, choice]);
      }
      if (parents.length >= most) return result('');
    }
    if (following.length > 0) depth++;
    level = following;
  }
  const cycle = cycleIn(parents.length, edges);
  const [start] = cycle;
  if (!start) return result('', [], true);
  return result(
    'a schedule goes on for ever',
    [...pathTo(start[0]), ...cycle.map(([, , choice]) => choice)],
    true,
  );

  /** What can happen in a state. Some worlds are kept, so that the first step needs no replay. */
  function found(world: World, number: number): Found {
    const { isQuiet, moves } = movesOf(world);
    const isKept = moves.length > 0 && live < MOST_LIVE;
    if (isKept) live++;
    return {
      number,
      choices: moves.map((move) => steps.numberOf(move)),
      problem: isQuiet ? brokenRest(world) : '',
      world: isKept ? world : undefined,
    };
  }

  async function make({ from, choice }: Task): Promise<Made> {
    const { world: kept, number } = from;
    if (kept) live--;
    from.world = undefined;
    const world = kept ?? (await steps.made(plan, pathTo(number)));
    await world.make(steps.of(choice));
    const problem = brokenRule(world, budget, plan.limit ?? Infinity);
    return { from, choice, world, problem, key: keyOf(world) };
  }

  function pathTo(number: number): number[] {
    const path: number[] = [];
    for (let n = number; n > 0; n = sure(parents[n])) path.unshift(sure(choices[n]));
    return path;
  }
}

/** The steps of an exploration, by number. */
class Steps {
  private readonly steps: Move[] = [];
  private readonly numbers = new Map<string, number>();

  numberOf(move: Move): number {
    const known = this.numbers.get(move.text);
    if (known !== undefined) return known;
    this.numbers.set(move.text, this.steps.length);
    return this.steps.push(move) - 1;
  }

  of(number: number): Move {
    return sure(this.steps[number]);
  }

  texts(path: readonly number[]): string[] {
    return path.map((step) => this.of(step).text);
  }

  /** A world in which the steps of a path have been made. */
  async made(plan: Plan, path: readonly number[]): Promise<World> {
    const world = firstOf(plan);
    for (const step of path) await world.make(this.of(step));
    return world;
  }
}

/** A step from one state to another, and its number. */
type Edge = readonly [from: number, to: number, choice: number];

/** Steps that lead from a state back to it, if any do: such states stay when ends are removed repeatedly. */
function cycleIn(states: number, edges: readonly Edge[]): readonly Edge[] {
  const before = Array.from({ length: states }, (): number[] => []);
  const left = before.map(() => 0);
  for (const [from, to] of edges) {
    before[to]?.push(from);
    left[from] = sure(left[from]) + 1;
  }
  const ends = [...left.keys()].filter((state) => left[state] === 0);
  for (let end = ends.pop(); end !== undefined; end = ends.pop()) {
    for (const state of sure(before[end])) {
      left[state] = sure(left[state]) - 1;
      if (left[state] === 0) ends.push(state);
    }
  }
  const onward = new Map(edges.filter(([, to]) => left[to] !== 0).map((edge) => [edge[0], edge]));
  const cycle: Edge[] = [];
  let [state] = onward.keys();
  while (state !== undefined && !cycle.some(([from]) => from === state)) {
    const edge = sure(onward.get(state));
    cycle.push(edge);
    [, state] = edge;
  }
  return cycle;
}

/** One line with the figures, and a violation as a test case for `found-schedules.spec.ts`. */
export function report(plan: Plan, found: Exploration): string {
  const { depth, isWhole, problem, schedule, seconds, states, transitions } = found;
  const extent = problem ? `${problem}, after ${schedule.length} steps` : isWhole ? 'all states' : 'stopped';
  const figures = `${states} states, ${transitions} transitions, depth ${depth}, ${seconds.toFixed(1)} s`;
  return `${plan.title}: ${extent}; ${figures}\n${problem ? caseOf(plan, problem, schedule) : ''}`;
}
