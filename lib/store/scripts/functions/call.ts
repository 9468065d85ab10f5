import { luaFunction } from './lua-function.js';

/**
 * `call(channel, message)`: whether anybody may have heard: where publishing is refused, nobody is told, and the instance has to find
 * what it would have been told of.
 */
export const call = luaFunction()`
local function call(channel, message)
  local receivers = redis.pcall('PUBLISH', channel, message)
  return type(receivers) ~= 'number' or receivers > 0
end
`;
