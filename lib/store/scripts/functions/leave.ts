import { luaFunction } from './lua-function.js';

/**
 * `leave(queue, instance)`: takes an instance out of the node's queue. Its place is the instance itself where it wants the lock
 * alone, and has `|0|0|s|` after that where it wants shared holds, as the places in the queue of one Redis begin.
 */
export const leave = luaFunction()`
local function leave(queue, instance)
  redis.pcall('ZREM', queue, instance, instance .. '|0|0|s|')
end
`;
