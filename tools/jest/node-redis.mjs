// npm run test:node-redis: suites that were written for ioredis, once more over node-redis.
import { base } from './base.mjs';

export default {
  ...base,
  setupFiles: ['<rootDir>/test/support/over-node-redis.cjs'],
  // The module reads URLs for ioredis only; a client of node-redis comes with its own.
  testPathIgnorePatterns: [...base.testPathIgnorePatterns, '/redis/connection-urls\\.spec\\.ts$'],
  testMatch: [
    '<rootDir>/test/contract/lock-service.redis.spec.ts',
    '<rootDir>/test/{redis,faults}/*.spec.ts',
    '<rootDir>/test/topology/{sentinel,replicas,node-redis}/*.spec.ts',
    '<rootDir>/test/topology/cluster/{lock-service.cluster,locks,faults,trial}.spec.ts',
  ],
};
