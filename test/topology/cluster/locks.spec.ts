import { describeClusterLocks } from './locks.js';

describeClusterLocks('6');
