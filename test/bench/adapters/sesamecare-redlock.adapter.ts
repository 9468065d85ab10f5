import { Redlock } from '@sesamecare-oss/redlock';
import { Redis } from 'ioredis';
import type { ContestantDefinition } from '../contestant.js';
import { LEASE } from './common-settings.js';
import { REDLOCK_SETTINGS, REDLOCK_SETTINGS_TEXT, redlockContestant } from './redlock-contestant.js';

export const contestant: ContestantDefinition = {
  id: 'sesamecare-redlock',
  package: '@sesamecare-oss/redlock',
  kind: 'peer',
  settings: `${REDLOCK_SETTINGS_TEXT}; acquire and release`,
  sends: ['evalsha', 'eval'],
  async open(redis, lease = LEASE) {
    const client = new Redis({ ...redis });
    return redlockContestant(new Redlock([client], REDLOCK_SETTINGS), [client], lease);
  },
};
