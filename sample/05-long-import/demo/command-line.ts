import type { Options } from '../../support/command-line.js';

export const COMMAND_LINE = {
  command: 'npm run sample:long-import',
  switches: {
    exit: 'end after the table instead of serving on',
    json: 'print JSON instead of the table',
  },
  numbers: {
    // More than two batches, so that something can happen in the middle.
    rows: { unit: 'n', means: 'rows of each file, more than 20', default: 40, least: 21 },
  },
  environment: 'REDIS_URL names a Redis of yours.',
};

export type RunOptions = Options<typeof COMMAND_LINE>;
