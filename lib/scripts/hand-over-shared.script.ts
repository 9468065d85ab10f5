import { CLOCK, SHARE } from './fragments.js';
import { luaScript } from './lua-script.js';

/**
 * Gives a shared hold from one owner id to another, with a new lease, as the hand-over script does with a lock alone.
 *
 * KEYS  1 lock, 2 shared holders
 * ARGV  1 owner id that gives, 2 owner id that takes, 3 ttl in ms
 * Reply 1 it is the second one's, 0 it was neither's
 *
 * O(log n) for n holders.
 */
export const handOverSharedScript = luaScript(
  'hand-over-shared',
  `
local lock, shared = KEYS[1], KEYS[2]
${CLOCK}${SHARE}
if redis.call('GET', lock) ~= 'shared' or live(shared) == 0 then
  return 0
end
if redis.call('ZREM', shared, ARGV[1]) == 1 then
  redis.call('ZADD', shared, ends(tonumber(ARGV[3])), ARGV[2])
  cover(lock, shared)
  return 1
end
return redis.call('ZSCORE', shared, ARGV[2]) and 1 or 0
`,
);
