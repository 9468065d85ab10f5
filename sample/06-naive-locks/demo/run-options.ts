import { parseArgs } from 'node:util';
import { positiveInteger } from '../../support/positive-integer.js';

export const RUN_USAGE = `npm run sample:naive-locks -- [options]

  --json        print one line of JSON instead of the table
  --lease <s>   the lease of those locks that have one, in seconds (1)

REDIS_URL names a Redis of yours.`;

export interface RunOptions {
  /** Print JSON instead of the table. */
  readonly json: boolean;
  readonly leaseSeconds: number;
}

/** @throws Error that names an option that is unknown or has no sensible value. */
export function parseRunOptions(args: readonly string[]): RunOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      json: { type: 'boolean', default: false },
      lease: { type: 'string', default: '1' },
    },
  });
  return { json: values.json, leaseSeconds: positiveInteger('lease', values.lease) };
}
