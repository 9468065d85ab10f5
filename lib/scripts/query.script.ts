import { luaScript } from './lua-script.js';

/**
 * Shows who holds the lock and which instances wait for it, in order.
 *
 * KEYS  1 lock, 2 queue, 3 shared holders
 * Reply { server time in seconds, microseconds, owner id, `shared` or false, ms left of its lease,
 *       { member, score, … } of the queue, { owner id, end of its lease in ms since 1970, … } of shared holds }
 *
 * O(n) for n holders and waiting instances.
 */
export const queryScript = luaScript(
  'query',
  `
local time = redis.call('TIME')
local owner = redis.call('GET', KEYS[1])
local holders = {}
if owner == 'shared' then
  local now = string.format('(%.0f', math.floor(time[1] * 1000 + time[2] / 1000))
  holders = redis.call('ZRANGE', KEYS[3], now, '+inf', 'BYSCORE', 'WITHSCORES')
end
return {
  time[1], time[2],
  owner, redis.call('PTTL', KEYS[1]),
  redis.call('ZRANGE', KEYS[2], 0, -1, 'WITHSCORES'),
  holders,
}
`,
);
