import type { Redis } from 'ioredis';
import type { ContestantDefinition } from '../contestant.js';
import { openPlainLock } from './plain-lock.js';

export const contestant: ContestantDefinition = {
  id: 'corked-floor',
  kind: 'floor',
  settings: 'the same with the socket corked for one tick',
  sends: ['set', 'evalsha', 'eval'],
  open: async (redis, lease) => openPlainLock(redis, lease, corkForOneTick()),
};

function corkForOneTick(): (client: Redis) => void {
  let corked = false;
  return ({ stream }) => {
    if (corked || !stream) return;
    corked = true;
    stream.cork();
    process.nextTick(() => {
      corked = false;
      stream.uncork();
    });
  };
}
