import type { LockOptions } from '../../lib/options/lock-options.interface.js';
import type { MemoryLeases } from '../../lib/store/memory/memory-leases.js';
import { hashOf } from './canonical.js';
import { type Budget, type Move, movesOf, timesOf } from './moves.js';
import { copyOf } from './plain-copy.js';
import { type Caller, NAME, PATIENCE, TTL, World } from './world.js';
import { sure } from './sure.js';

/** A small world to explore. */
export interface Plan {
  readonly title: string;
  readonly instances: number;
  readonly callers: readonly (LockOptions & { readonly at: number })[];
  readonly budget: Partial<Budget>;
  /** Most permits, where callers share the lock. */
  readonly limit?: number;
  /** States after which it stops. */
  readonly most: number;
}

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

const NOTHING: Budget = { fault: 0, tick: 0, abort: 0, force: 0, close: 0 };
/** Steps after which a world without faults has to be at rest. */
const MOST_STEPS = 500;

/** Visits every state that a plan can reach, breadth first, and checks the rules in each. */
export function explore(plan: Plan): Exploration {
  const began = performance.now();
  const budget = { ...NOTHING, ...plan.budget };
  const first = new World(plan.instances, plan.callers);
  const seen = new Set([hashOf(first)]);
  const parents = [-1];
  const choices = [-1];
  let transitions = 0;
  let depth = 0;
  const result = (problem: string, schedule: readonly string[] = [], isWhole = false): Exploration => {
    const seconds = (performance.now() - began) / 1_000;
    return { problem, schedule, states: seen.size, transitions, depth, seconds, isWhole };
  };
  let level: Found[] = [{ world: first, number: 0 }];
  while (level.length > 0) {
    const following: Found[] = [];
    for (const { world, number } of level) {
      world.enter();
      const moves = movesOf(world, budget);
      for (const [choice, move] of moves.entries()) {
        const after = made(world, move);
        transitions++;
        const broken = brokenRule(after, plan);
        const hash = broken ? '' : hashOf(after);
        if (seen.has(hash)) continue;
        const problem = broken || stall(after, plan);
        if (problem) return result(problem, scheduleTo(number, choice));
        seen.add(hash);
        parents.push(number);
        choices.push(choice);
        following.push({ world: after, number: parents.length - 1 });
      }
      if (seen.size >= plan.most) return result('');
    }
    if (following.length > 0) depth++;
    level = following;
  }
  return result('', [], true);

  function scheduleTo(number: number, choice: number): string[] {
    const path = [choice];
    for (let n = number; n > 0; n = sure(parents[n])) path.unshift(sure(choices[n]));
    let world = new World(plan.instances, plan.callers);
    return path.map((chosen) => {
      world.enter();
      const move = sure(movesOf(world, budget)[chosen]);
      world = made(world, move);
      return move.text;
    });
  }
}

function made(world: World, { make }: Move): World {
  const after = copyOf(world);
  after.enter();
  make(after);
  for (const caller of after.callers)
    if (caller.phase === 'holds' && !isHeld(after, caller)) caller.isOver = true;
  return after;
}

function isHeld({ now }: World, { lease, phase }: Caller): boolean {
  return phase === 'holds' && sure(lease).live && now < sure(lease).deadline;
}

/** The rules of a state. */
function brokenRule(world: World, { limit = Infinity }: Plan): string {
  if (world.problem) return world.problem;
  const holders = world.callers.filter((caller) => isHeld(world, caller));
  if (holders.some(({ isOver }) => isOver)) return 'a hold that was over is held again';
  // A forced release ends exclusion on purpose, until its message arrives.
  const certain = holders.filter(({ lease }) => !world.revoked.has(sure(lease).owner));
  const alone = certain.filter(({ waiter }) => sure(waiter).options.mode === 'exclusive');
  if (alone.length > 0 && certain.length > 1) return 'two hold the lock, one of them exclusively';
  if (certain.length > limit) return 'more permits than the limit are held';
  const { locks, shares } = world.server as unknown as Readonly<Record<'locks' | 'shares', MemoryLeases>>;
  for (const { lease } of certain)
    if (!locks.has(NAME, sure(lease).owner) && !shares.has(NAME, sure(lease).owner))
      return 'the server does not keep a lease that is in use';
  const isQuiet = world.instances.every(({ messages }) => messages.length === 0);
  if (isQuiet && world.spentOn.fault === 0 && holders.length > certain.length)
    return 'a holder is not told of a forced release';
  return '';
}

/** Lets a world go on without faults, each instance in turn: every caller has to be served or rejected in time. */
function stall(before: World, plan: Plan): string {
  const world = copyOf(before);
  world.enter();
  const latest = world.now + 4 * PATIENCE + 4 * TTL;
  for (let step = 0; step < MOST_STEPS; step++) {
    const moves = movesOf(world, world.spentOn);
    if (moves.length > 0) {
      sure(moves[step % moves.length]).make(world);
      const broken = brokenRule(world, plan);
      if (broken) return `${broken}, after a schedule without further faults`;
      continue;
    }
    const waiting = world.callers.some(({ phase }) => phase === 'waits');
    const isIdle = world.instances.every(({ name }) => name.state.kind === 'idle' && !name.hasLeases);
    if (!waiting && isIdle) {
      const { held, pending } = world.server.query(NAME);
      if (held.length === 0 && pending.length === 0) return '';
      if (!world.hasRunLate) return 'the server keeps a lease or a place that nobody has';
    }
    const [time] = timesOf(world);
    if (time === undefined)
      return waiting ? 'a caller waits for ever' : isIdle ? '' : 'an instance does not come to rest';
    if (time > latest) return 'a caller waits too long';
    if (waiting && time > world.now + TTL && world.server.query(NAME).held.length === 0)
      return 'a caller waits although the lock is free';
    world.now = time;
  }
  return 'it goes on for ever';
}

/** One line with the figures. */
export function describe(title: string, found: Exploration): string {
  const { depth, isWhole, problem, schedule, seconds, states, transitions } = found;
  const extent = problem ? `${problem}, after ${schedule.length} steps` : isWhole ? 'all states' : 'stopped';
  const figures = `${states} states, ${transitions} transitions, depth ${depth}, ${seconds.toFixed(1)} s`;
  return [`${title}: ${extent}; ${figures}`, ...schedule.map((step) => `  ${step}`)].join('\n') + '\n';
}
