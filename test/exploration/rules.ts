import { permitsOf } from '../../lib/store/owner-id.js';
import { parsePlace } from '../../lib/store/place.js';
import type { Caller, Site } from './site.js';
import { sure } from './sure.js';
import { timesOf } from './moves.js';
import type { Budget, World } from './world.js';
import { NAMES, WAIT, TTL } from './world-server.js';

/** How long a caller may wait at most: for a lock, for an answer, and while its instance is frozen. */
const LONGEST = 4 * WAIT + 4 * TTL;

export function isHeld({ now }: World, { lease, phase }: Caller): boolean {
  return phase === 'holds' && lease?.live === true && now < lease.deadline;
}

/** The rules of a state: which one it breaks, or an empty text. */
export function brokenRule(world: World, budget: Budget, limit: number): string {
  if (world.problem) return world.problem;
  for (const [of, name] of NAMES.entries()) {
    const holders = callersOf(world).filter((caller) => caller.of === of && isHeld(world, caller));
    if (holders.some(({ isOver }) => isOver)) return 'a hold that was over is held again';
    // A forced release ends exclusion on purpose, until its message arrives.
    const certain = holders.filter(
      ({ lease }) => lease !== undefined && !world.revoked.includes(lease.owner),
    );
    const alone = certain.filter(({ options }) => options.mode === 'exclusive');
    if (alone.length > 0 && certain.length > 1) return 'two hold the lock, one of them exclusively';
    const owners = certain.flatMap(({ lease }) => lease?.owner ?? []);
    if (owners.reduce((sum, owner) => sum + permitsOf(owner), 0) > limit)
      return 'more permits than the limit are held';
    if (owners.some((owner) => !world.server.keeps(name, owner)))
      return 'the server does not keep a lease that is in use';
    if (!world.isUndisturbed(budget)) continue;
    if (holders.length > certain.length && world.sites.every(({ messages }) => messages.length === 0))
      return 'a holder is not told of a forced release';
    for (const place of world.server.placesOf(name))
      if (world.sites.some((site) => isDeserted(site, of, place)))
        return 'the server keeps a place in the queue whose instance does not wait';
  }
  return '';
}

/** The rules of a state in which nothing can happen, before `time` passes. */
export function brokenRest(world: World): string {
  const [time] = timesOf(world);
  const waiting = callersOf(world).filter(({ phase }) => phase === 'waits');
  const isIdle = world.sites.every(({ topics }) =>
    topics.every(({ name }) => name.state.kind === 'idle' && !name.hasLeases),
  );
  const found = NAMES.map((name) => world.server.query(name));
  const isEmpty = found.every(({ held, pending }) => held.length === 0 && pending.length === 0);
  if (waiting.length === 0 && isIdle && !isEmpty && !world.hasRunLate && !world.hasRefusedCleanUp)
    return 'the server keeps a lease or a place that nobody has';
  if (time === undefined) {
    if (waiting.length > 0) return 'a caller waits for ever';
    return isIdle ? '' : 'an instance does not come to rest';
  }
  for (const { of, waiter } of waiting) {
    if (world.now > sure(waiter).startedAt + LONGEST) return 'a caller waits too long';
    if (time > world.now + TTL && sure(found[of]).held.length === 0)
      return 'a caller waits although the lock is free';
  }
  return '';
}

export function callersOf({ sites }: World): readonly Caller[] {
  return sites.flatMap(({ callers }) => callers);
}

/** Whether an instance neither waits at one of its places nor has anything on its way that may end it. */
function isDeserted(site: Site, of: number, place: string): boolean {
  const { instance, shared } = parsePlace(place);
  if (instance !== site.id) return false;
  const { late, messages, replies, requests } = site;
  if (late.length + messages.length + replies.length + requests.length > 0) return false;
  return !sure(site.topics[of]).name.turn?.waitsAt(place, shared?.turn);
}
