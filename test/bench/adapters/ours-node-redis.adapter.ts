import { createClient } from 'redis';
import { nodeRedis } from '../../../dist/node-redis.js';
import type { ContestantDefinition } from '../contestant.js';
import { openOurLocks } from './our-locks.js';

/** This package over node-redis. */
export const contestant: ContestantDefinition = {
  id: 'ours-node-redis',
  package: 'redis',
  kind: 'ours',
  settings: 'as ours, over node-redis',
  sends: ['evalsha', 'eval'],
  open: async ({ host, port }, ttl) => openOurLocks(nodeRedis(createClient({ socket: { host, port } })), ttl),
};
