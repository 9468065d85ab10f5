import type { Options } from '../../support/command-line.js';

export const COMMAND_LINE = {
  command: 'npm run sample:fenced-writes',
  switches: {
    json: 'print one line of JSON instead of the table',
  },
  numbers: {
    lease: { unit: 'ms', means: 'the lease, which a worker sleeps through', default: 1_000 },
  },
  environment: 'REDIS_URL and DATABASE_URL name a Redis and a database of yours.',
};

export type RunOptions = Options<typeof COMMAND_LINE>;
