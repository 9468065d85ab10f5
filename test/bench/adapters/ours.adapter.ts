import { type ContestantDefinition, nodesOf } from '../contestant.js';
import { WAIT } from './common-settings.js';
import { openOurLocks } from './our-locks.js';

/** This package, built. */
export const contestant: ContestantDefinition = {
  id: 'ours',
  kind: 'ours',
  settings: `defaults (ttl 30 s, renewed), wait ${WAIT / 1_000} s; acquire and release`,
  sends: ['evalsha', 'eval'],
  async open(redis, ttl) {
    const [first, ...others] = nodesOf(redis).map(({ host, port }) => ({ host, port }));
    const connection = others.length > 0 ? [{ ...first }, ...others] : { ...first };
    return openOurLocks(connection, ttl);
  },
};
