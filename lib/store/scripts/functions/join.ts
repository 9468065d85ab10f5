import { check } from './check.js';
import { digits } from './digits.js';
import { rank } from './rank.js';
import { luaFunction } from './lua-function.js';

/**
 * `join(queue, place)`: puts a waiting instance into the node's queue. The queue outlives its last refresh by a minute, so that a
 * crashed application leaves nothing for good.
 */
export const join = luaFunction(check, digits, rank)`
local function join(queue, place)
  check()
  local since, instance = rank(queue, place)
  redis.call('ZADD', queue, digits(since), instance)
  redis.call('PEXPIRE', queue, 60000)
end
`;
