import type { Options } from '../../support/command-line.js';

export const COMMAND_LINE = {
  command: 'npm run sample:cron-replicas',
  switches: {
    json: 'print one line of JSON instead of the timeline',
  },
  numbers: {
    ticks: { unit: 'n', means: 'ticks before one process is killed, and after', default: 5 },
    behind: { unit: 'ms', means: 'by how much the third clock is behind the others', default: 300 },
  },
  environment: 'REDIS_URL and DATABASE_URL name a Redis and a database of yours.',
};

export type RunOptions = Options<typeof COMMAND_LINE>;
