import { clock } from './clock.js';
import { digits } from './digits.js';
import { luaFunction } from './lua-function.js';

/**
 * `enqueue(queue, place)`: puts a waiting instance at the end of the queue, also when the clock was set back since others came;
 * one that is already there keeps its place. The queue outlives its last refresh by a minute, so that a crashed application
 * leaves nothing for good.
 */
export const enqueue = luaFunction(clock, digits)`
local function enqueue(queue, place)
  local newest = redis.call('ZRANGE', queue, -1, -1, 'WITHSCORES')[2] or 0
  redis.call('ZADD', queue, 'NX', digits(math.max(clock(), newest + 1)), place)
  redis.call('PEXPIRE', queue, 60000)
end
`;
