import { parseArgs } from 'node:util';
import { positiveInteger } from '../../support/positive-integer.js';

export interface RunOptions {
  /** Print JSON instead of the timeline. */
  readonly json: boolean;
  /** Ticks before one process is killed, and after. */
  readonly ticks: number;
  /** Milliseconds by which the third clock is behind the others. */
  readonly behind: number;
}

export const RUN_USAGE = `npm run sample:cron-replicas -- [options]

  --json          print one line of JSON instead of the timeline
  --ticks <n>     ticks before one process is killed, and after (5)
  --behind <ms>   by how much the third clock is behind the others (300)

REDIS_URL and DATABASE_URL name a Redis and a database of yours.`;

/** @throws Error that names an option that is unknown or has no sensible value. */
export function parseRunOptions(args: readonly string[]): RunOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      json: { type: 'boolean', default: false },
      ticks: { type: 'string', default: '5' },
      behind: { type: 'string', default: '300' },
    },
  });
  return {
    json: values.json,
    ticks: positiveInteger('ticks', values.ticks),
    behind: positiveInteger('behind', values.behind),
  };
}
