import type { RedisServer } from '../support/redis-server.js';
import type { BenchOptions } from './bench-options.js';
import type { ContestantDefinition } from './contestant.js';
import type { PoolStock } from './load/pool-stock.js';

/** What a case works with. */
export interface Bench extends BenchOptions {
  readonly server: RedisServer;
  readonly pools: PoolStock;
  /** By id; an error where the package cannot be loaded here. */
  readonly contestants: ReadonlyMap<string, ContestantDefinition | Error>;
  /** Tells what is going on, on stderr. */
  say(line: string): void;
}

/** A wish and what came of it. */
export interface Goal {
  readonly text: string;
  readonly measured: string;
  readonly met: boolean;
  /** Whether `--quick` insists on it: counts of commands and exclusion, never times. */
  readonly isCount?: boolean;
}

/** What a case found. */
export interface CaseReport {
  readonly name: string;
  readonly title: string;
  readonly notes: readonly string[];
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly goals: readonly Goal[];
  /** The figures of each round, for `--json`. */
  readonly figures: unknown;
}

/** One case of the benchmark. */
export interface BenchCase {
  /** As in `--case`. */
  readonly name: string;
  /** Whether `--quick` runs it. */
  readonly isQuick: boolean;
  run(bench: Bench): Promise<CaseReport>;
}
