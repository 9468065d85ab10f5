import { keyOf } from './key.js';
import { movesOf } from './moves.js';
import { brokenRest, brokenRule } from './rules.js';
import { caseOf, firstOf, made, type Plan } from './schedule.js';
import { sure } from './sure.js';
import { NOTHING, type World } from './world.js';
import { enter } from './world-server.js';

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

interface Found {
  readonly world: World;
  readonly number: number;
}

/** More states than in any of the plans: a world without an end fails instead of using up the memory. */
const MOST = 1_000_000;

/**
 * Visits every state that a plan can reach, breadth first, and checks the rules in each.
 *
 * In each state in which nothing else can happen, time passes without further faults. The schedules without faults from
 * any state are therefore among those that are visited. All of them come to rest if the states without a successor are
 * at rest, and no schedule leads back to a state.
 */
export function explore(plan: Plan, most = MOST): Exploration {
  const began = performance.now();
  const budget = { ...NOTHING, ...plan.budget };
  const first = firstOf(plan);
  const numbers = new Map([[keyOf(first), 0]]);
  const parents = [-1];
  const choices = [-1];
  const edges: number[] = [];
  let depth = 0;
  const result = (problem: string, schedule: readonly string[] = [], isWhole = false): Exploration => {
    const seconds = (performance.now() - began) / 1_000;
    const transitions = edges.length / 2;
    return { problem, schedule, states: parents.length, transitions, depth, seconds, isWhole };
  };
  let level: Found[] = [{ world: first, number: 0 }];
  while (level.length > 0) {
    const following: Found[] = [];
    for (const { world, number } of level) {
      enter(world);
      const { isQuiet, moves } = movesOf(world);
      for (const [choice, move] of moves.entries()) {
        const after = made(world, move);
        const broken = brokenRule(after, budget, plan.limit ?? Infinity);
        if (broken) return result(broken, scheduleTo(number, choice));
        const key = keyOf(after);
        let known = numbers.get(key);
        if (known === undefined) {
          known = parents.length;
          numbers.set(key, known);
          parents.push(number);
          choices.push(choice);
          following.push({ world: after, number: known });
        }
        edges.push(number, known);
      }
      if (isQuiet) {
        // Its successors have entered their own worlds, whose time may be later.
        enter(world);
        const broken = brokenRest(world);
        if (broken) return result(broken, scheduleTo(sure(parents[number]), sure(choices[number])));
      }
      if (parents.length >= most) return result('');
    }
    if (following.length > 0) depth++;
    level = following;
  }
  return result(isEndless(parents.length, edges) ? 'a schedule goes on for ever' : '', [], true);

  function scheduleTo(number: number, choice: number): string[] {
    const path = [choice];
    for (let n = number; n > 0; n = sure(parents[n])) path.unshift(sure(choices[n]));
    let world = firstOf(plan);
    return path.map((chosen) => {
      enter(world);
      const move = sure(movesOf(world).moves[chosen]);
      world = made(world, move);
      return move.text;
    });
  }
}

/** Whether a schedule leads from a state back to it: such states stay when ends are removed repeatedly. */
function isEndless(states: number, edges: readonly number[]): boolean {
  const before = Array.from({ length: states }, (): number[] => []);
  const left = before.map(() => 0);
  for (let e = 0; e < edges.length; e += 2) {
    const from = sure(edges[e]);
    before[sure(edges[e + 1])]?.push(from);
    left[from] = sure(left[from]) + 1;
  }
  const ends = [...left.keys()].filter((state) => left[state] === 0);
  let removed = 0;
  for (let end = ends.pop(); end !== undefined; end = ends.pop()) {
    removed++;
    for (const state of sure(before[end])) {
      left[state] = sure(left[state]) - 1;
      if (left[state] === 0) ends.push(state);
    }
  }
  return removed < states;
}

/** One line with the figures, and a violation as a test case for `found-schedules.spec.ts`. */
export function report(plan: Plan, found: Exploration): string {
  const { depth, isWhole, problem, schedule, seconds, states, transitions } = found;
  const extent = problem ? `${problem}, after ${schedule.length} steps` : isWhole ? 'all states' : 'stopped';
  const figures = `${states} states, ${transitions} transitions, depth ${depth}, ${seconds.toFixed(1)} s`;
  return `${plan.title}: ${extent}; ${figures}\n${problem ? caseOf(plan, problem, schedule) : ''}`;
}
