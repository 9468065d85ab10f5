import type { AcquireRequest } from '../../lib/store/lock-store.js';
import { isGrant, type Grant, type Taken } from '../../lib/store/grant.js';
import { instanceOf, isSharedOwner, permitsOf } from '../../lib/store/owner-id.js';
import { parsePlace } from '../../lib/store/place.js';
import { NAMES, TTL, WAIT } from './names.js';
import type { Request } from './network.js';
import type { Site } from './site.js';
import { sure } from './sure.js';
import { timesOf } from './times.js';
import type { Budget, World } from './world.js';

/** How long a caller may wait at most: for a lock, for an answer, and while its instance is frozen. */
const LONGEST = 4 * WAIT + 4 * TTL;

/** The rules of a state: which one it breaks, or an empty text. */
export function brokenRule(world: World, budget: Budget, limit: number): string {
  if (world.problem) return world.problem;
  for (const [of, name] of NAMES.entries()) {
    const holders = world.callers.filter(({ hold, of: wanted }) => wanted === of && hold?.held);
    if (holders.some(({ isOver }) => isOver)) return 'a hold that was over is held again';
    // A forced release ends exclusion on purpose, until its message arrives.
    const certain = holders.flatMap(({ hold }) =>
      hold && !world.revoked.includes(hold.owner) ? [hold] : [],
    );
    const alone = certain.filter(({ mode }) => mode === 'exclusive');
    if (alone.length > 0 && certain.length > 1) return 'two hold the lock, one of them exclusively';
    if (certain.reduce((sum, { owner }) => sum + permitsOf(owner), 0) > limit)
      return 'more permits than the limit are held';
    const isKept = (owner: string): boolean =>
      world.server.query(name).held.some((each) => each.owner === owner);
    if (certain.some(({ owner }) => !isKept(owner))) return 'the server does not keep a lease that is in use';
    if (!world.isUndisturbed(budget)) continue;
    if (holders.length > certain.length && world.sites.every(({ network }) => network.messages.length === 0))
      return 'a holder is not told of a forced release';
    for (const place of world.server['queues'].of(name).keys())
      if (world.sites.some((site) => isDeserted(site, name, place)))
        return 'the server keeps a place in the queue whose instance does not wait';
  }
  const calls = world.callers.filter(({ role }) => role === 'runs once');
  if (new Set(calls.flatMap(({ result }) => result ?? [])).size > 1) return 'two runs have succeeded';
  const kept = NAMES.map((name) => world.server.mark(name)?.json);
  const rejected = calls.filter(({ phase, result }) => phase === 'done' && result === undefined);
  if (rejected.some(({ of, returned }) => returned !== undefined && kept[of] === `${returned}`))
    return 'a run is rejected although its result is kept';
  if (world.isUndisturbed(budget) && rejected.length > 0)
    return 'a call of once is rejected although nothing has failed';
  return '';
}

/** The rules of a state in which nothing can happen, before `time` passes. */
export function brokenRest(world: World): string {
  const [time] = timesOf(world);
  const waiting = world.callers.filter(({ phase }) => phase === 'waits' || phase === 'finishes');
  const isIdle = world.sites.every((site) => site.isIdle);
  const found = NAMES.map((name) => world.server.query(name));
  const isEmpty = found.every(({ held, pending }) => held.length === 0 && pending.length === 0);
  const isPassed = world.passed !== undefined;
  if (waiting.length === 0 && isIdle && !isEmpty && !isPassed && !world.hasRunLate && !world.hasRefusedEnding)
    return 'the server keeps a lease or a place that nobody has';
  if (time === undefined) {
    if (waiting.length > 0) return 'a caller waits for ever';
    return isIdle ? '' : 'an instance does not come to rest';
  }
  for (const { of, startedAt } of waiting) {
    if (world.now > startedAt + LONGEST) return 'a caller waits too long';
    if (time > world.now + TTL && sure(found[of]).held.length === 0)
      return 'a caller waits although the lock is free';
  }
  return '';
}

/** Checks that an instance does not wait for a lock that the server keeps for it, unless it is about to learn of it. */
export function checkAdoption(
  world: World,
  { id, engine, network }: Site,
  to: Request,
  result: unknown,
): void {
  if (to.kind !== 'acquire') return;
  const reply = result as Grant | Taken;
  const { owner } = reply;
  const { name } = to.args[0] as AcquireRequest;
  if (isGrant(reply) || owner === undefined || isSharedOwner(owner)) return;
  const isComing = network.messages.some(
    ({ kind, args }) =>
      kind === 'granted' && (args[1] as readonly Grant[]).some((grant) => grant.owner === owner),
  );
  if (
    instanceOf(owner) === id &&
    !owner.includes('~') &&
    !isComing &&
    !engine.queues.get(name)?.record.leaseOf(owner)
  )
    world.problem = 'an instance has to wait for a lock that the server keeps for it';
}

/** Whether an instance neither waits at one of its places nor has anything on its way that may end it. */
function isDeserted({ id, engine, network }: Site, name: string, place: string): boolean {
  if (parsePlace(place).instance !== id) return false;
  const { late, messages, replies, requests } = network;
  if (late.length + messages.length + replies.length + requests.length > 0) return false;
  return !engine.queues.get(name)?.record.bid?.waitsAt(place);
}
