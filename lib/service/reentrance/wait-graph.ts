import { type DeadlockedCall, LockDeadlockError } from '../../errors/lock-deadlock.error.js';
import type { EnterableLock } from '../../engine/hold/granted-lock.interface.js';

/** A call that waits for a lock while its own async context holds others. */
export interface BlockedCall {
  readonly name: string;
  /** What the call's context holds. */
  readonly holds: readonly EnterableLock[];
  /** The holds that it waits for just now, as far as they are of this process; all of them have to end. */
  blockers(): readonly object[];
}

/**
 * Who waits for whom among the calls of one instance that wait while they hold.
 *
 * A cycle can only be closed by a call that begins to wait: a hold that is granted has no waiting call below it yet. So
 * it is enough to look then. Calls whose context holds nothing are in no cycle, and never come here.
 */
export class WaitGraph {
  /** The waiting calls below each hold. */
  private readonly below = new WeakMap<object, Set<BlockedCall>>();

  /**
   * Waits for what `granting` resolves to.
   *
   * @throws LockDeadlockError at once, where this wait would close a cycle.
   */
  async during<T>(call: BlockedCall, granting: () => Promise<T>): Promise<T> {
    const cycle = this.cycleThrough(call);
    if (cycle) throw deadlockError([call, ...cycle]);
    for (const hold of call.holds) this.callsBelow(hold).add(call);
    try {
      return await granting();
    } finally {
      for (const hold of call.holds) this.callsBelow(hold).delete(call);
    }
  }

  /** The calls through which `call` would wait for one of its own holds; not where it waits for that directly. */
  private cycleThrough(call: BlockedCall): BlockedCall[] | undefined {
    const own = new Set<object>(call.holds);
    const seen = new Set<BlockedCall>();
    const search = (blockers: readonly object[]): BlockedCall[] | undefined => {
      for (const next of blockers.flatMap((blocker) => [...(this.below.get(blocker) ?? [])])) {
        if (seen.has(next)) continue;
        seen.add(next);
        const its = next.blockers();
        const rest = its.some((blocker) => own.has(blocker)) ? [] : search(its);
        if (rest) return [next, ...rest];
      }
      return undefined;
    };
    const blockers = call.blockers();
    return blockers.some((blocker) => own.has(blocker)) ? undefined : search(blockers);
  }

  private callsBelow(hold: object): Set<BlockedCall> {
    let calls = this.below.get(hold);
    if (!calls) this.below.set(hold, (calls = new Set()));
    return calls;
  }
}

/** A shared hold cannot become exclusive: it would wait for its own end, and two that try would for each other's. */
export function upgradeError({ keys, fencingToken }: EnterableLock): LockDeadlockError {
  const [name = ''] = keys;
  return new LockDeadlockError(
    `Deadlock: this call holds ${name} in mode shared (token ${fencingToken}) and would wait for it in mode exclusive. ` +
      'Acquire it in mode exclusive in the first place, or release it before.',
    { keys, cycle: [{ holds: keys, fencingTokens: [fencingToken], waitsFor: name }] },
  );
}

function deadlockError(calls: readonly BlockedCall[]): LockDeadlockError {
  const cycle = calls.map(({ holds, name }): DeadlockedCall => {
    const entered = holds.filter((hold, i) => holds.findIndex((each) => isSameHold(each, hold)) === i);
    return {
      holds: entered.flatMap(({ keys }) => keys),
      fencingTokens: entered.map(({ fencingToken }) => fencingToken),
      waitsFor: name,
    };
  });
  const chain = cycle.map((call, i) => `${i === 0 ? 'this call' : 'another call'} ${sentence(call, i)}`);
  return new LockDeadlockError(
    `Deadlock: ${chain.join('; ')}. Acquire the names in one call, or everywhere in the same order.`,
    { keys: [calls[0]?.name ?? ''], cycle },
  );
}

/** Whether one is an entry into the other, or both into a third. */
function isSameHold(a: EnterableLock, b: EnterableLock): boolean {
  return a.fencingToken === b.fencingToken && a.keys[0] === b.keys[0];
}

function sentence({ holds, fencingTokens, waitsFor }: DeadlockedCall, place: number): string {
  const held = holds.map((name, i) => `${name} (token ${fencingTokens[i]})`).join(', ');
  return `holds ${held} and ${place === 0 ? 'would wait' : 'waits'} for ${waitsFor}`;
}
