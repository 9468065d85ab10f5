import type { DoneInfo, LockInfo, LockSnapshot } from '../lock-snapshot.interface.js';
import { SHARED_OWNER } from '../grant.js';
import { holderOf, waiterAt } from '../place.js';
import { queryScript } from '../scripts/query.script.js';
import { hasCode } from './connection/redis-error.js';
import { integer, list, strangeReply } from './connection/script-reply.js';
import { ScriptBatch, type ScriptServer } from './script-batch.js';

export const NOTHING: LockSnapshot = { held: [], pending: [] };

/** Queries the holders and waiters of names, and with `withMarks` the times of their marks. */
export function queryNames(
  names: readonly string[],
  server: ScriptServer,
  withMarks = false,
): Promise<PromiseSettledResult<LockSnapshot>[]> {
  const queries = new ScriptBatch(
    ({ keys }) => server.run(queryScript, keys, withMarks ? ['marks'] : []),
    server.maxBatch,
  );
  const answers = names.map((name) => {
    queries.content.keys.push(...server.keySpace.keys(name));
    if (withMarks) queries.content.keys.push(server.keySpace.mark(name));
    return queries.join((reply) => snapshot(name, reply));
  });
  queries.flush();
  return Promise.allSettled(answers);
}

/** Queries names as {@link queryNames} does. A key of another type holds no lock; other errors reject. */
export async function lookAt(names: readonly string[], server: ScriptServer): Promise<LockSnapshot[]> {
  const answers = await queryNames(names, server);
  return answers.map((answer) => {
    if (answer.status === 'fulfilled') return answer.value;
    if (hasCode(answer.reason, 'WRONGTYPE')) return NOTHING;
    throw answer.reason;
  });
}

/**
 * The reply of the query script. Server time in microseconds, owner id, remaining ms of its lease; places in the queue
 * with their scores; owner ids of shared holds with the ends of their leases. Times of the mark, if requested.
 */
type QueryReply = [
  time: unknown,
  owner: string | null,
  remaining: number | string,
  queue: string[],
  shared: string[],
  mark?: unknown,
];

/** Parses the reply of the query script for a name to its holders and waiters. */
export function snapshot(name: string, reply: unknown): LockSnapshot {
  const [time, owner, remaining, queue, shared, mark] = list(reply) as QueryReply;
  if (!Array.isArray(queue) || !Array.isArray(shared)) throw strangeReply(reply);
  const now = integer(time);
  const alone = owner === null || owner === SHARED_OWNER ? [] : [holder(name, owner, Number(remaining))];
  return {
    held: [...alone, ...sharers(name, shared, now / 1_000)],
    pending: waiters(name, queue, now),
    ...(Array.isArray(mark) ? { done: kept(mark, now) } : {}),
  };
}

function kept([at, left]: unknown[], now: number): DoneInfo {
  return { at: new Date(integer(at)), until: new Date(now / 1_000 + integer(left)) };
}

function sharers(name: string, shared: readonly string[], now: number): LockInfo[] {
  // The score of a hand-off lease is half a millisecond beyond its end.
  return pairs(shared).map(([owner, end]) => ({
    name,
    ...holderOf(owner),
    remaining: Math.floor(end) - Math.floor(now),
  }));
}

/** The exclusive holder. Foreign owners have no token, and may have no expiry. */
function holder(name: string, owner: string, remaining: number): LockInfo {
  const hold = /:\d{15,16}$/.test(owner) ? holderOf(owner) : { owner };
  return { name, ...hold, mode: 'exclusive', ...(remaining < 0 ? {} : { remaining }) };
}

function waiters(name: string, queue: readonly string[], now: number): LockInfo[] {
  return pairs(queue).map(([place, since]) => {
    // Places on a quorum contain a time of another clock, which may be ahead.
    const waited = Math.max(0, now - since) / 1_000;
    return { name, ...waiterAt(place), since: new Date(since / 1_000), waited };
  });
}

/** Parses members of a sorted set with their scores. */
function pairs(members: readonly string[]): [member: string, score: number][] {
  return members.flatMap((member, i) => (i % 2 === 0 ? [[member, Number(members[i + 1])]] : []));
}
