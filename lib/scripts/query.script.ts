import { luaScript } from './lua-script.js';

/**
 * Shows who holds the lock and which instances wait for it, in order.
 *
 * KEYS  1 lock, 2 queue
 * Reply { server time in seconds, microseconds, owner id or false, ms left of its lease, { member, score, … } }
 *
 * O(n) for n waiting instances.
 */
export const queryScript = luaScript(
  'query',
  `
local time = redis.call('TIME')
return {
  time[1], time[2],
  redis.call('GET', KEYS[1]), redis.call('PTTL', KEYS[1]),
  redis.call('ZRANGE', KEYS[2], 0, -1, 'WITHSCORES'),
}
`,
);
