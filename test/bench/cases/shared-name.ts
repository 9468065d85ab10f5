import type { Bench } from '../bench.js';
import { loadContestant } from '../contestants.js';
import type { Sharing } from '../load/load-plan.js';
import { runContest, type Contest, type ContestResult } from './contest.js';

/** A contest of 4 processes × 25 callers for one name that several may hold at the same time. */
export function sharedName(
  bench: Bench,
  { name, ids, work, sharing }: { name: string; ids: readonly string[]; work: number; sharing: Sharing },
): Contest {
  return {
    name,
    ids,
    processes: 4,
    load: { names: 'one', callers: 25, work, record: true, sharing },
    warmUp: bench.quick ? 200 : 500,
    duration: bench.quick ? 400 : 2_000,
  };
}

/** Runs it, also with contestants that take part in no other case. */
export async function runSharedName(bench: Bench, contest: Contest): Promise<ContestResult> {
  const contestants = new Map(bench.contestants);
  for (const id of contest.ids) if (!contestants.has(id)) contestants.set(id, await loadContestant(id));
  const result = await runContest({ ...bench, contestants }, contest);
  // An instance that knows of shared holds asks with one key more, which exclusive cases should not measure.
  await bench.pools.discard('ours');
  return result;
}
