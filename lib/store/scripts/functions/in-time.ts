import { clock } from './clock.js';
import { luaFunction } from './lua-function.js';

/**
 * No function, but a look before everything else: answers a request that comes too late to be anything but a copy that was
 * long on its way with the server's time. Reads ARGV[2]: after a space the server's time in microseconds until which the
 * request counts, where the instance knows it.
 */
export const inTime = luaFunction(clock)`
local space = string.find(ARGV[2], ' ', 1, true)
if space and clock() > (tonumber(string.sub(ARGV[2], space)) or math.huge) then
  return clock()
end
`;
