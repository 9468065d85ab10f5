import { parseArgs } from 'node:util';

export const USAGE = `npm run sample:failover -- [options]

  --json   print JSON instead of the timeline
  --help   print this`;

export interface RunOptions {
  /** Print JSON instead of the timeline. */
  readonly json: boolean;
}

/** @throws Error that names an option that is unknown. */
export function parseRunOptions(args: readonly string[]): RunOptions {
  const { values } = parseArgs({
    args: [...args],
    options: { json: { type: 'boolean', default: false } },
  });
  return values;
}
