import type { Options } from '../../support/command-line.js';

export const COMMAND_LINE = {
  command: 'npm run sample:operations',
  switches: {
    exit: 'end after the start instead of serving on',
    json: 'print one line of JSON instead of an invitation',
  },
  numbers: {
    instances: { unit: 'n', means: 'processes of the application', default: 3 },
  },
  environment: 'REDIS_URL names a Redis of yours; OPERATOR_PASSWORD another password.',
};

export type RunOptions = Options<typeof COMMAND_LINE>;
