import { mayHoldTogether } from '../../support/may-hold-together.js';
import type { AcceptedWrite } from './fenced-resource.js';
import type { HoldRecord } from './hold-record.js';

/** A time in which Redis lost its data, or somebody else changed them, on the shared clock. */
export interface DataLoss {
  readonly from: number;
  readonly to: number;
}

/** Looks that a process may take between the end of a lease and the abort of its signal: their timers are due in one turn. */
const LOOKS_IN_ONE_TURN = 2;

/** Holders of one name that reported `held` at the same moment and may not, where no loss of data excuses it. */
export function overlaps(holds: readonly HoldRecord[], losses: readonly DataLoss[], ttl: number): string[] {
  return eachName(holds, (named) =>
    named.flatMap((next, i) => {
      if (next.heldUntil === undefined) return [];
      const others = named.slice(0, i).filter(({ heldUntil }) => {
        const holdsThen = heldUntil !== undefined && next.begin < heldUntil;
        return holdsThen && !isExcused(next.begin, heldUntil, losses, ttl);
      });
      if (mayHoldTogether([next, ...others])) return [];
      const ends = others.map(
        (hold) => `${ms((hold.heldUntil ?? 0) - next.begin)} before ${show(hold)} ended`,
      );
      return [`${show(next)} began ${ends.join(' and ')}`];
    }),
  );
}

/** Holders that the resource refused although they reported `held`, where no loss of data excuses it. */
export function fencedOffHolders(
  holds: readonly HoldRecord[],
  losses: readonly DataLoss[],
  ttl: number,
): string[] {
  return holds.flatMap((hold) => {
    const { refusedAt } = hold;
    if (refusedAt === undefined || isExcused(refusedAt, refusedAt, losses, ttl)) return [];
    return [`${show(hold)} was refused a write although it reported held`];
  });
}

/** Lost holds whose signal had not aborted when a hold began that they excluded, although their process ran. */
export function lateAborts(holds: readonly HoldRecord[]): string[] {
  return eachName(holds, (named) =>
    named.flatMap((hold, i) => {
      if (hold.lostSeenAt === undefined) return [];
      if (hold.abortedAt === undefined && hold.unabortedAt.length > LOOKS_IN_ONE_TURN) {
        return [`${show(hold)} was lost, and its signal never aborted${looksOf(hold)}`];
      }
      const next = named
        .slice(i + 1)
        .find((other) => other.heldUntil !== undefined && !mayHoldTogether([hold, other]));
      if (!next) return [];
      const looks = hold.unabortedAt.filter((seenAt) => seenAt < next.begin).length;
      return looks > LOOKS_IN_ONE_TURN
        ? [`${show(hold)} was lost, and ${show(next)} began before it was told${looksOf(hold)}`]
        : [];
    }),
  );
}

/**
 * Holds whose fencing token is not greater than that of a hold before which excluded them, and such as have the same;
 * one that went to another process keeps its.
 */
export function fallingTokens(holds: readonly HoldRecord[]): string[] {
  return eachName(holds, (named) => {
    const held = named.filter(({ heldUntil }) => heldUntil !== undefined);
    return held.flatMap((hold, i) => {
      const before = held
        .slice(0, i)
        .find(
          (other) =>
            hold.id !== other.id &&
            (hold.token === other.token || (hold.token < other.token && !mayHoldTogether([hold, other]))),
        );
      return before ? [`${show(hold)} came after ${show(before)}`] : [];
    });
  });
}

/** Accepted writes whose token does not grow from one hold to the next. */
export function fallingWrites(accepted: readonly AcceptedWrite[]): string[] {
  const last = new Map<string, AcceptedWrite>();
  return accepted.flatMap((write) => {
    const before = last.get(write.name);
    last.set(write.name, write);
    const grows =
      !before || write.token > before.token || (write.token === before.token && write.hold === before.hold);
    return grows
      ? []
      : [`${write.hold} wrote with ${write.token} after ${before?.hold} with ${before?.token}`];
  });
}

/**
 * Whether Redis lost its data before somebody else came, and so shortly before that a hold could go on: until
 * its renewal or its next hand-off in memory finds out, but no longer than its lease.
 */
function isExcused(othersAt: number, heldUntil: number, losses: readonly DataLoss[], ttl: number): boolean {
  return losses.some(({ from, to }) => from <= othersAt && heldUntil <= to + ttl);
}

function eachName(
  holds: readonly HoldRecord[],
  check: (inOrder: readonly HoldRecord[]) => string[],
): string[] {
  const names = new Set(holds.map(({ name }) => name));
  return [...names].flatMap((name) =>
    check(holds.filter((hold) => hold.name === name).toSorted((a, b) => a.begin - b.begin)),
  );
}

function show({ id, token, begin }: HoldRecord): string {
  return `${id} (token ${token}, begun at ${ms(begin)})`;
}

/** Shows whether a process had time to tell of a loss. */
function looksOf({ heldUntil = NaN, unabortedAt, abortedAt = NaN, end = NaN }: HoldRecord): string {
  const looks = unabortedAt.map((seenAt) => ms(seenAt)).join(', ');
  return `: held until ${ms(heldUntil)}, seen lost at ${looks}, aborted at ${ms(abortedAt)}, ended at ${ms(end)}`;
}

function ms(time: number): string {
  return `${time.toFixed(2)} ms`;
}
