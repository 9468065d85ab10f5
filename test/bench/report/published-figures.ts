import { execFileSync } from 'node:child_process';
import { cpus } from 'node:os';
import type { Run } from '../../../tools/figures/figures.mjs';
import type { CaseReport } from '../bench.js';
import { PEER_IDS } from '../contestants.js';
import type { RoundFigures } from '../statistics/round-figures.js';
import { spreadOf } from '../statistics/spread.js';

type Value = (round: RoundFigures) => number | undefined;
type CaseName = keyof Run['cases'];

const RATE: Value = ({ rate }) => Number(rate.toPrecision(3));
const WAIT: Value = ({ wait }) => wait && Math.round(wait.p99);
const BY_HAND = 'plain-floor';
const CALLERS = 100;

/**
 * What the pages tell of a whole run.
 *
 * @returns undefined if a case of theirs did not run
 */
export function publishedFigures(
  reports: readonly CaseReport[],
  versions: { redis: string; ioredis: string },
): Run | undefined {
  const rounds = new Map(
    reports.map(({ name, figures }) => [name, figures as Record<string, RoundFigures[]>]),
  );
  const found = (name: CaseName, value: Value, best: (...values: number[]) => number): object | undefined => {
    const figures = rounds.get(name);
    const median = (id: string): number | undefined => {
      const of = figures?.[id];
      return Array.isArray(of) ? spreadOf(of.map(value))?.median : undefined;
    };
    const ours = median('ours');
    const others = PEER_IDS.map(median).filter((each) => each !== undefined);
    if (ours === undefined || others.length === 0) return undefined;
    const byHand = median(BY_HAND);
    return { ours, best: best(...others), ...(byHand !== undefined && { byHand }) };
  };
  const hold = spreadOf((rounds.get('hot-4x25-2ms')?.['ours'] ?? []).map(({ meanHold }) => meanHold))?.median;
  const cases = {
    'hot-4x25': found('hot-4x25', RATE, Math.max),
    'hot-4x25-2ms': { ...found('hot-4x25-2ms', WAIT, Math.min), ideal: Math.round(CALLERS * (hold ?? 2)) },
    'free-256': found('free-256', RATE, Math.max),
    'semaphore-4x25': found('semaphore-4x25', RATE, Math.max),
  };
  if (Object.values(cases).some((each) => each === undefined || !('ours' in each))) return undefined;
  return {
    date: new Date().toISOString().slice(0, 10),
    commit: execFileSync('git', ['rev-parse', 'HEAD'], { cwd: __dirname, encoding: 'utf8' }).trim(),
    machine: {
      cores: cpus().length,
      cpu: cpus()[0]?.model ?? 'unknown processor',
      node: process.versions.node,
      ...versions,
    },
    rounds: rounds.get('hot-4x25')?.['ours']?.length ?? 0,
    cases: cases as Run['cases'],
    goals: reports.flatMap(({ name, goals }) =>
      goals.map(({ text, measured, met }) => ({ case: name, text, measured, met })),
    ),
  };
}
