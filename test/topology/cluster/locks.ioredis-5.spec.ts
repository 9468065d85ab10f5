import { describeClusterLocks } from './locks.js';

jest.mock('ioredis', () => jest.requireActual('ioredis-5'));

describeClusterLocks('5');
