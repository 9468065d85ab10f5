import type { Options } from '../../support/command-line.js';

export const COMMAND_LINE = {
  command: 'npm run sample:cache-rebuild',
  switches: {
    json: 'print one line of JSON instead of the table',
  },
  numbers: {
    readers: { unit: 'n', means: 'readers that come at once', default: 200 },
    instances: { unit: 'n', means: 'processes that serve them', default: 3 },
  },
  environment: 'REDIS_URL and DATABASE_URL name a Redis and a database of yours.',
};

export type RunOptions = Options<typeof COMMAND_LINE>;
