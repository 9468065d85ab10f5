import { Redis } from 'ioredis';
import Redlock from 'redlock';
import { type ContestantDefinition, nodesOf } from '../contestant.js';
import { LEASE } from './common-settings.js';
import { REDLOCK_SETTINGS, REDLOCK_SETTINGS_TEXT, redlockContestant } from './redlock-contestant.js';

export const contestant: ContestantDefinition = {
  id: 'redlock',
  package: 'redlock',
  kind: 'peer',
  settings: `${REDLOCK_SETTINGS_TEXT}; acquire and release`,
  sends: ['evalsha', 'eval'],
  async open(redis, lease = LEASE) {
    const clients = nodesOf(redis).map(({ host, port }) => new Redis({ host, port }));
    return redlockContestant(new Redlock(clients, REDLOCK_SETTINGS), clients, lease);
  },
};
