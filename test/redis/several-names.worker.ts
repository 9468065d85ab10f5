import { setTimeout as sleep } from 'node:timers/promises';
import type { HoldRecord } from '../faults/support/hold-record.js';
import { SeededRandom } from '../faults/support/seeded-random.js';
import { now } from '../faults/support/shared-clock.js';
import { serveCalls } from '../support/serve-calls.js';
import { Instance } from './instance.js';

const [connection = ''] = process.argv.slice(2);
const instance = new Instance({ connection, wait: 60_000 });

interface Crowd {
  readonly process: number;
  readonly callers: number;
  /** How often each caller wants names. */
  readonly turns: number;
  readonly names: readonly string[];
}

/** One caller's turns: of each the names, and what each of them looked like. */
export interface TurnRecord {
  readonly caller: string;
  readonly askedAt: number;
  readonly begin: number;
  readonly end: number;
  readonly holds: readonly HoldRecord[];
}

const calls = {
  async start(): Promise<void> {
    await instance.warmUp();
  },

  /** Each caller takes a few of the names at a time, in any order, works for a moment and lets go of them. */
  async crowd({ process, callers, turns, names }: Crowd): Promise<TurnRecord[]> {
    const all = Array.from({ length: callers }, async (_, i) => {
      const caller = `p${process}/${i}`;
      const random = new SeededRandom(1_000 * process + i);
      const records: TurnRecord[] = [];
      for (let turn = 0; turn < turns; turn++)
        records.push(await takeTurn(`${caller}/${turn}`, caller, subset(names, random), random));
      return records;
    });
    return (await Promise.all(all)).flat();
  },
};

export type SeveralNamesCalls = typeof calls;

serveCalls(calls);

function subset(names: readonly string[], random: SeededRandom): string[] {
  const size = Math.floor(random.between(1, 6));
  return names
    .map((name) => ({ name, at: random.next() }))
    .toSorted((a, b) => a.at - b.at)
    .slice(0, size)
    .map(({ name }) => name);
}

async function takeTurn(
  id: string,
  caller: string,
  names: readonly string[],
  random: SeededRandom,
): Promise<TurnRecord> {
  const askedAt = now();
  return instance.locks.using(names, async (lock) => {
    const begin = now();
    if (random.chance(0.5)) await sleep(1);
    const end = now();
    const seen = { askedAt, begin, heldUntil: lock.held ? end : undefined, end };
    const unseen = { lostSeenAt: undefined, unabortedAt: [], abortedAt: undefined, refusedAt: undefined };
    const holds = names.map((name): HoldRecord => ({
      id,
      name,
      token: lock.fencingTokenOf(name),
      outcome: 'result',
      ...seen,
      ...unseen,
    }));
    return { caller, askedAt, begin, end, holds };
  });
}
