import { type DeadlockedCall, LockDeadlockError } from '../../errors/lock-deadlock.error.js';
import type { ReusableLock } from '../../engine/hold/reentry.js';
import type { ResolvedLockOptions } from '../../options/lock-options.interface.js';

/** A call that waits for a lock while its own async context holds others. */
export interface BlockedCall {
  readonly name: string;
  /** The holds of the call's context. */
  readonly holds: readonly ReusableLock[];
  /** The holds of this process that the call currently waits for; all of them must end. */
  blockers(): readonly object[];
}

/**
 * The wait-for graph of the calls of one instance that wait while they hold.
 *
 * Only a call that begins to wait can close a cycle, because no nested call waits in a new hold. The search
 * therefore runs only then. Calls whose context holds nothing are in no cycle, and are not recorded.
 */
export class WaitGraph {
  /** The waiting calls that are nested in each hold. */
  private readonly nested = new WeakMap<object, Set<BlockedCall>>();

  /**
   * Runs `granting`, and records the wait until its Promise has settled.
   *
   * @throws LockDeadlockError at once, if this wait would close a cycle.
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

  /**
   * The calls through which `call` would wait for one of its own holds; undefined for a direct wait for an own hold.
   */
  private cycleThrough(call: BlockedCall): BlockedCall[] | undefined {
    const own = new Set<object>(call.holds);
    const seen = new Set<BlockedCall>();
    const search = (blockers: readonly object[]): BlockedCall[] | undefined => {
      for (const next of blockers.flatMap((blocker) => [...(this.nested.get(blocker) ?? [])])) {
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
    let calls = this.nested.get(hold);
    if (!calls) this.nested.set(hold, (calls = new Set()));
    return calls;
  }
}

/**
 * The error of a shared hold that requests exclusive mode or more permits: it would wait for its own end, and two of
 * them for each other.
 */
export function upgradeError(
  { keys, fencingToken, permits }: ReusableLock,
  wanted: Pick<ResolvedLockOptions, 'mode' | 'permits'>,
): LockDeadlockError {
  const [name = ''] = keys;
  const [has, wants] =
    wanted.mode === 'exclusive'
      ? ['in mode shared', 'in mode exclusive']
      : [`with ${permits} of its permits`, `with ${wanted.permits} of its permits`];
  return new LockDeadlockError(
    `Deadlock: this call holds ${name} ${has} (token ${fencingToken}) and would wait for it ${wants}. ` +
      `Acquire it ${wants} from the start, or release it before.`,
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

/** Whether one hold is an entry into the other, or both are entries into a third one. */
function isSameHold(a: ReusableLock, b: ReusableLock): boolean {
  return a.fencingToken === b.fencingToken && a.keys[0] === b.keys[0];
}

function sentence({ holds, fencingTokens, waitsFor }: DeadlockedCall, index: number): string {
  const held = holds.map((name, i) => `${name} (token ${fencingTokens[i]})`).join(', ');
  return `holds ${held} and ${index === 0 ? 'would wait' : 'waits'} for ${waitsFor}`;
}
