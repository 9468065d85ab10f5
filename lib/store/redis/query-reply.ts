import type { LockInfo, LockSnapshot } from '../../interfaces/lock.interface.js';
import { parsePlace } from '../place.js';

/** What the query script answers: server time, owner id, ms left of its lease, members of the queue with their scores. */
export type QueryReply = [
  seconds: string,
  micros: string,
  owner: string | null,
  remaining: number | string,
  queue: string[],
];

/** Who holds a lock and who waits for it, from the answer of the query script. */
export function snapshot(name: string, [seconds, micros, owner, remaining, queue]: QueryReply): LockSnapshot {
  return {
    held: owner === null ? [] : [holder(name, owner, Number(remaining))],
    pending: waiters(name, queue, Number(seconds) * 1e6 + Number(micros)),
  };
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
    const owner = parsePlace(place).instance;
    return [
      {
        name,
        mode: 'exclusive' as const,
        owner,
        since: new Date(since / 1_000),
        waited: (now - since) / 1_000,
      },
    ];
  });
}
