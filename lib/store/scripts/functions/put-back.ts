import { luaFunction } from './lua-function.js';

/** `put_back(queue, since, place)`: gives a waiting instance its place at the head of the queue again. */
export const putBack = luaFunction()`
local function put_back(queue, since, place)
  redis.call('ZADD', queue, since, place)
  redis.call('PEXPIRE', queue, 60000)
end
`;
