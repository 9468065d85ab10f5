import type { Lease } from '../hold/lease.js';
import { askAgain, askOrGoIdle, leaveUnlessWanted, turnFor, yieldTo } from './asking.js';
import { GAP } from './gaps.js';
import type { Step } from './name.js';
import type { Waiter } from './waiter.js';

/** Passes the exclusive lock to the next caller here, lets the store decide, or leaves a gap for other clients. */
export function release(step: Step, lease: Lease): void {
  const { name, now } = step;
  const head = name.line.first;
  const isNext = head?.options.mode === 'exclusive';
  if (isNext && lease.fits(head.options, now) && name.budget.takeHold(now))
    return step.admitLocally(head, lease);
  const leavesGap = name.rules.gaps.use(name.name);
  if (isNext && !leavesGap) return yieldTo(step, head, lease);
  step.end(lease);
  step.do({ kind: 'free', lease, leavesGap });
  if (head && leavesGap) name.state = { kind: 'queued', turn: turnFor(step, head), askAt: now + GAP };
  else askOrGoIdle(step, undefined);
}

/** Handles the end of a shared hold: its lease passes to the next caller here, is kept as a spare, or is released. */
export function releaseShare(step: Step, lease: Lease): void {
  const { line, sharing } = step.name;
  const head = line.first;
  if (head && passShare(step, head, lease)) return;
  if (head || !sharing?.isAmongOthers(lease)) return freeShares(step, lease);
  if (sharing.spares.push(lease) === 1) step.do({ kind: 'keep-spares' });
  // The last one waits until a caller reads again, or the store has the spares.
  if (sharing.spares.length >= sharing.leases.size) step.do({ kind: 'hold-back' });
}

/** Gives a new caller a spare lease. If none fits, releases the spares before the caller's request. */
export function useSpare(step: Step, waiter: Waiter): boolean {
  const { line, sharing } = step.name;
  if (!sharing || sharing.spares.length === 0) return false;
  const lease = line.first === waiter ? sharing.spares.pop() : undefined;
  const isUsed = lease?.live === true && passShare(step, waiter, lease);
  if (isUsed) step.do({ kind: 'settle-spares' });
  else freeShares(step, lease);
  return isUsed;
}

function passShare(step: Step, head: Waiter, lease: Lease): boolean {
  const { takenReply, sharing, turn } = step.name;
  const othersWait = turn?.place !== undefined && takenReply !== undefined;
  if (!lease.fits(head.options, step.now) || !sharing?.pass(lease, head.options, step.now, othersWait))
    return false;
  step.admitLocally(head, lease);
  if (turn) turn.unserved--;
  leaveUnlessWanted(step);
  return true;
}

/** Releases a shared lease and all spares. */
export function freeShares(step: Step, lease: Lease | undefined): void {
  const spares = step.name.sharing?.spares.splice(0) ?? [];
  for (const each of lease ? [lease, ...spares] : spares) {
    if (!each.live) continue;
    step.end(each);
    step.do({ kind: 'free', lease: each });
  }
  step.do({ kind: 'settle-spares' });
  if (step.name.state.kind === 'idle') askOrGoIdle(step, undefined);
  // A waiter without a place in the store's queue would receive no message, so the name asks again.
  else if (step.name.turn?.place === undefined) askAgain(step);
}
