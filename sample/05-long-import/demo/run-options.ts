import { parseArgs } from 'node:util';
import { positiveInteger } from '../../support/positive-integer.js';

export const USAGE = `npm run sample:long-import -- [options]

  --exit       end after the table instead of serving on
  --json       print JSON instead of the table
  --rows <n>   rows of each file, default 40, more than 20
  --help       print this`;

export interface RunOptions {
  /** End after the table instead of serving on. */
  readonly exit: boolean;
  /** Print JSON instead of the table. */
  readonly json: boolean;
  /** Rows of each file. */
  readonly rows: number;
}

/** @throws Error that names an option that is unknown or has no sensible value. */
export function parseRunOptions(args: readonly string[]): RunOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      exit: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      rows: { type: 'string', default: '40' },
    },
  });
  const rows = positiveInteger('rows', values.rows);
  // More than two batches, so that something can happen in the middle.
  if (rows <= 20) throw new Error(`--rows takes a number above 20, not ${rows}`);
  return { exit: values.exit, json: values.json, rows };
}
