// npm run test:node-redis:quorum: the contract on a quorum over node-redis.
import nodeRedis from './node-redis.mjs';

export default {
  ...nodeRedis,
  testMatch: ['<rootDir>/test/topology/quorum/lock-service.quorum.spec.ts'],
  maxWorkers: 1,
};
