import { serveCalls } from '../../support/serve-calls.js';
import type { Contestant, RedisAddress } from '../contestant.js';
import { loadContestant } from '../contestants.js';
import { runLoad } from './run-load.js';
import type { LoadPlan, LoadResult } from './load-plan.js';

// The hook that compiles this file turns them on; they would make the errors of some peers dear.
process.setSourceMapsEnabled(false);
// Some peers leave promises of their own unhandled; a load process must outlive that to report it.
const unhandled = new Set<string>();
process.on('unhandledRejection', (reason) => unhandled.add(`unhandled: ${String(reason)}`));

let contestant: Contestant | undefined;

function opened(): Contestant {
  if (!contestant) throw new Error('Call open first');
  return contestant;
}

const calls = {
  async open(id: string, redis: RedisAddress): Promise<void> {
    const definition = await loadContestant(id);
    contestant = await definition.open(redis);
    // Connections, scripts and first compilation are no part of what is measured.
    await contestant.hold(`bench:open:${process.pid}`, async () => {});
  },

  async load(plan: LoadPlan): Promise<LoadResult> {
    const result = await runLoad(opened(), plan);
    const failures = { ...result.failures };
    for (const message of unhandled) failures[message] = (failures[message] ?? 0) + 1;
    unhandled.clear();
    return { ...result, failures };
  },
};

export type LoadCalls = typeof calls;

serveCalls(calls);
