import type { ContestantDefinition } from '../contestant.js';
import { openPlainLock } from './plain-lock.js';

export const contestant: ContestantDefinition = {
  id: 'plain-floor',
  kind: 'floor',
  settings: 'hand-written SET NX PX and compare-and-delete on bare ioredis; tried again every 10 ms',
  sends: ['set', 'evalsha', 'eval'],
  open: async (redis, lease) => openPlainLock(redis, lease),
};
