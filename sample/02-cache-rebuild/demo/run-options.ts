import { parseArgs } from 'node:util';
import { positiveInteger } from '../../support/positive-integer.js';

export interface RunOptions {
  /** Print JSON instead of the table. */
  readonly json: boolean;
  readonly readers: number;
  readonly instances: number;
}

export const RUN_USAGE = `npm run sample:cache-rebuild -- [options]

  --json            print one line of JSON instead of the table
  --readers <n>     readers that come at once (200)
  --instances <n>   processes that serve them (3)

REDIS_URL and DATABASE_URL name a Redis and a database of yours.`;

/** @throws Error that names an option that is unknown or has no sensible value. */
export function parseRunOptions(args: readonly string[]): RunOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      json: { type: 'boolean', default: false },
      readers: { type: 'string', default: '200' },
      instances: { type: 'string', default: '3' },
    },
  });
  return {
    json: values.json,
    readers: positiveInteger('readers', values.readers),
    instances: positiveInteger('instances', values.instances),
  };
}
