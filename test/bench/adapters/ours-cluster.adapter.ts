import type { ContestantDefinition } from '../contestant.js';
import { openOurLocks } from './our-locks.js';

/** This package on a Redis Cluster, of which it is given one node. */
export const contestant: ContestantDefinition = {
  id: 'ours-cluster',
  kind: 'ours',
  settings: 'as ours, on a Redis Cluster',
  sends: ['evalsha', 'eval'],
  async open(node, ttl) {
    const connection = { nodes: [{ ...node }] };
    return openOurLocks(connection, ttl);
  },
};
