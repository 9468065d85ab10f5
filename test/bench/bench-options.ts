import { parseArgs } from 'node:util';
import { CONTESTANT_IDS } from './contestants.js';

/** What the command line asked for. */
export interface BenchOptions {
  /** One short round, insisting on counts and exclusion only. */
  readonly quick: boolean;
  readonly rounds: number;
  /** Names of cases; empty for all. */
  readonly cases: readonly string[];
  /** Ids of contestants. */
  readonly only: readonly string[];
  /** A git revision, or a directory with another build of this package, to measure against instead. */
  readonly against: string | undefined;
  readonly json: string | undefined;
  readonly help: boolean;
}

export const USAGE = `Measures nest-redis-lock against other lock packages, on a redis-server of its own.

  npm run bench -- [options]

  --quick            one short round of the main cases with few contestants; fails on a wrong count of commands
                     or two holders at once, and judges no time
  --rounds N         rounds of each case, in turn for all contestants (default 3)
  --case NAME        only this case; may be repeated
  --only A,B         only these contestants: ${CONTESTANT_IDS.join(', ')}
  --against REV      holds of another git revision, or of a directory with another build of this package, beside
                     those of this one: free-1, free-64, free-256, hot-1x50, hot-4x25, hot-4x25-2ms,
                     semaphore-4x25-2ms, readers-4x25-2ms and handoff, or the --case names among these; --rounds
                     is how often it starts new processes
  --json FILE        writes all figures to a file
  --help             shows this`;

/** Enough to see that the bench itself works, and quick even on two cores. */
const QUICK_IDS = ['ours', 'ours-node-redis', 'redis-semaphore', 'redlock', 'plain-floor', 'async-mutex'];

/** @throws Error that says which option is wrong */
export function parseOptions(args: readonly string[], caseNames: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      case: { type: 'string', multiple: true, default: [] },
      only: { type: 'string' },
      against: { type: 'string' },
      json: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  const rounds = Number(values.rounds ?? (values.quick ? 1 : 3));
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error('--rounds takes a whole number from 1 on.');
  const only = values.only?.split(',') ?? defaultIds(values);
  refuseUnknown('--only', only, CONTESTANT_IDS);
  refuseUnknown('--case', values.case, caseNames);
  const { quick, case: cases, against, json, help } = values;
  return { quick, rounds, cases, only, against, json, help };
}

function defaultIds({ quick, against }: { quick: boolean; against?: string }): readonly string[] {
  if (against !== undefined) return ['ours'];
  return quick ? QUICK_IDS : CONTESTANT_IDS;
}

function refuseUnknown(option: string, given: readonly string[], known: readonly string[]): void {
  const unknown = given.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Error(`${option} ${unknown} is not one of: ${known.join(', ')}`);
}
