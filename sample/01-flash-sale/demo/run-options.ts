import { parseArgs } from 'node:util';
import { positiveInteger } from '../../support/positive-integer.js';

export const RUN_USAGE = `npm start -- [options]

  --exit         end after the table instead of serving on
  --json         print one line of JSON instead of the table
  --stock <n>    pieces in stock (100)
  --buyers <n>   buyers that come at once (600)

REDIS_URL and DATABASE_URL name a Redis and a database of yours.`;

export interface RunOptions {
  /** End after the table instead of serving on. */
  readonly exit: boolean;
  /** Print JSON instead of the table. */
  readonly json: boolean;
  readonly stock: number;
  readonly buyers: number;
}

/** @throws Error that names an option that is unknown or has no sensible value. */
export function parseRunOptions(args: readonly string[]): RunOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      exit: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      stock: { type: 'string', default: '100' },
      buyers: { type: 'string', default: '600' },
    },
  });
  return {
    exit: values.exit,
    json: values.json,
    stock: positiveInteger('stock', values.stock),
    buyers: positiveInteger('buyers', values.buyers),
  };
}
