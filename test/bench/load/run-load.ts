import { setTimeout as sleep } from 'node:timers/promises';
import type { Contestant } from '../contestant.js';
import { dice } from './dice.js';
import { HoldRecording } from './hold-recording.js';
import { holdingOf } from './holding.js';
import type { LoadPlan, LoadResult } from './load-plan.js';
import { Occupancy } from './occupancy.js';
import { now } from './shared-clock.js';

/** Milliseconds after the stop until callers that still wait are given up. */
const GRACE = 2_000;

/** Lets all callers acquire, work and release in a loop until the plan's stop. */
export async function runLoad(contestant: Contestant, plan: LoadPlan): Promise<LoadResult> {
  const { callers, measureFrom, stopAt } = plan;
  const work = plan.work === 0 ? async () => {} : () => sleep(plan.work);
  const exclusive = new HoldRecording();
  const shared = new HoldRecording();
  const { limit, part } = plan.sharing ?? { limit: 1, part: 0 };
  const together = { limit };
  const isNextShared = dice(part, 'shared');
  const occupancy = new Occupancy(limit);
  const counted = Array.from({ length: callers }, () => 0);
  const failures: Record<string, number> = {};
  let holds = 0;
  let running = callers;
  // When each caller asked for what it has not had yet; 0 where it has.
  const askedAt = new Float64Array(callers);
  const hold = holdingOf(contestant, plan, () => occupancy.overlaps++);

  async function call(caller: number): Promise<void> {
    const isOneName = plan.names === 'one';
    for (;;) {
      const requested = now();
      if (requested >= stopAt) break;
      askedAt[caller] = requested;
      const isShared = part > 0 && isNextShared();
      const inside = async (): Promise<void> => {
        const begin = now();
        askedAt[caller] = 0;
        if (isOneName) occupancy.enter(isShared);
        await work();
        if (isOneName) occupancy.leave(isShared);
        const end = now();
        holds++;
        if (end >= measureFrom && end < stopAt) counted[caller] = (counted[caller] ?? 0) + 1;
        if (plan.record) (isShared ? shared : exclusive).add(requested, begin, end);
      };
      try {
        await hold(caller, inside, isShared ? together : undefined);
      } catch (error) {
        const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
        failures[message] = (failures[message] ?? 0) + 1;
        // One that fails at once must not keep the event loop from everything else.
        await sleep(1);
      }
    }
    askedAt[caller] = 0;
    running--;
  }

  await sleep(Math.max(0, plan.startAt - now()));
  const all = Promise.all(Array.from({ length: callers }, (_, caller) => call(caller)));
  const over = new AbortController();
  const givenUp = sleep(stopAt + GRACE - now(), undefined, { signal: over.signal }).catch(() => {});
  await Promise.race([all, givenUp]);
  over.abort();
  return {
    holds,
    counted,
    failures,
    overlaps: occupancy.overlaps,
    stuck: running,
    abandoned: [...askedAt].filter((asked) => asked > 0).map((asked) => now() - asked),
    exclusive: exclusive.all,
    shared: shared.all,
  };
}
