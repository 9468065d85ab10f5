import type { Options } from '../../support/command-line.js';

export const COMMAND_LINE = {
  command: 'npm start',
  switches: {
    exit: 'end after the table instead of serving on',
    json: 'print one line of JSON instead of the table',
  },
  numbers: {
    stock: { unit: 'n', means: 'pieces in stock', default: 100 },
    buyers: { unit: 'n', means: 'buyers that come at once', default: 600 },
    payment: { unit: 'ms', means: 'how long each payment takes', default: 20 },
  },
  environment: 'REDIS_URL and DATABASE_URL name a Redis and a database of yours.',
};

export type RunOptions = Options<typeof COMMAND_LINE>;
