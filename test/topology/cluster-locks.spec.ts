import { describeClusterLocks } from './cluster-locks.js';

describeClusterLocks('6');
