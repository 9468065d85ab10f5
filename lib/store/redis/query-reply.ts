import type { LockInfo, LockSnapshot } from '../../interfaces/lock.interface.js';
import { SHARED_OWNER } from '../lock-store.js';
import { parsePlace } from '../place.js';

/**
 * What the query script answers: server time, owner id, ms left of its lease, members of the queue with their scores,
 * owner ids of shared holds with the ends of their leases.
 */
export type QueryReply = [
  seconds: string,
  micros: string,
  owner: string | null,
  remaining: number | string,
  queue: string[],
  shared: string[],
];

/** Who holds a lock and who waits for it, from the answer of the query script. */
export function snapshot(
  name: string,
  [seconds, micros, owner, remaining, queue, shared]: QueryReply,
): LockSnapshot {
  const now = Number(seconds) * 1e6 + Number(micros);
  const alone = owner === null || owner === SHARED_OWNER ? [] : [holder(name, owner, Number(remaining))];
  return { held: [...alone, ...sharers(name, shared, now / 1_000)], pending: waiters(name, queue, now) };
}

function sharers(name: string, shared: readonly string[], now: number): LockInfo[] {
  return shared.flatMap((owner, i) =>
    i % 2 === 0 ? [{ name, mode: 'shared' as const, owner, remaining: Number(shared[i + 1]) - now }] : [],
  );
}

/** The owner id ends in the fencing token, which is the time of the grant in microseconds; foreign owners have none. */
function holder(name: string, owner: string, remaining: number): LockInfo {
  const fencingToken = Number(/:(\d{15,16})$/.exec(owner)?.[1] ?? Number.NaN);
  const lease = remaining < 0 ? {} : { remaining };
  const own = Number.isNaN(fencingToken) ? {} : { fencingToken, since: new Date(fencingToken / 1_000) };
  return { name, mode: 'exclusive', owner, ...lease, ...own };
}

function waiters(name: string, queue: readonly string[], now: number): LockInfo[] {
  return queue.flatMap((place, i) => {
    if (i % 2 === 1) return [];
    const since = Number(queue[i + 1]);
    const { instance: owner, shared } = parsePlace(place);
    return [
      {
        name,
        mode: shared ? ('shared' as const) : ('exclusive' as const),
        owner,
        since: new Date(since / 1_000),
        // Places at the nodes of a quorum are dated by a clock of their own.
        waited: Math.max(0, now - since) / 1_000,
      },
    ];
  });
}
