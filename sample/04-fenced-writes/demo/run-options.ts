import { parseArgs } from 'node:util';
import { positiveInteger } from '../../support/positive-integer.js';

export const RUN_USAGE = `npm run sample:fenced-writes -- [options]

  --json         print one line of JSON instead of the table
  --lease <ms>   the lease, which a worker sleeps through (1000)

REDIS_URL and DATABASE_URL name a Redis and a database of yours.`;

export interface RunOptions {
  /** Print JSON instead of the table. */
  readonly json: boolean;
  /** Milliseconds. */
  readonly lease: number;
}

/** @throws Error that names an option that is unknown or has no sensible value. */
export function parseRunOptions(args: readonly string[]): RunOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      json: { type: 'boolean', default: false },
      lease: { type: 'string', default: '1000' },
    },
  });
  return { json: values.json, lease: positiveInteger('lease', values.lease) };
}
