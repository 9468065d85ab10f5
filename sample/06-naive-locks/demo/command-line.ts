import type { Options } from '../../support/command-line.js';

export const COMMAND_LINE = {
  command: 'npm run sample:naive-locks',
  switches: {
    json: 'print one line of JSON instead of the table',
  },
  numbers: {
    lease: { unit: 's', means: 'the lease of those locks that have one, in seconds', default: 1 },
  },
  environment: 'REDIS_URL names a Redis of yours.',
};

export type RunOptions = Options<typeof COMMAND_LINE>;
