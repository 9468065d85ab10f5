import type { Options } from '../../support/command-line.js';

export const COMMAND_LINE = {
  command: 'npm run sample:failover',
  switches: {
    json: 'print JSON instead of the timeline',
  },
  numbers: {},
  environment: 'DATABASE_URL names a database of yours.',
};

export type RunOptions = Options<typeof COMMAND_LINE>;
