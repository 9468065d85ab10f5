import { NAMES } from './names.js';
import { sure } from './sure.js';
import type { World } from './world.js';

/** The ends of the leases that the server keeps. */
export function endsIn(world: World, name: string): number[] {
  return world.server.query(name).held.map(({ remaining }) => world.now + sure(remaining));
}

/** Times at which something would change by itself. */
export function timesOf(world: World): number[] {
  const times = NAMES.flatMap((name) => endsIn(world, name));
  for (const { clock } of world.sites) times.push(...clock.times);
  return [...new Set(times)].filter((time) => time > world.now && time < Infinity).toSorted((a, b) => a - b);
}
