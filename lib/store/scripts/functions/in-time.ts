import { clock } from './clock.js';
import { luaFunction } from './lua-function.js';

/**
 * No function, but a look before everything else: answers a request that comes too late to be anything but a copy that was
 * long on its way with minus the server's time. Reads ARGV[2]: the server's time in microseconds until which the request counts, ''
 * where the instance does not know it.
 */
export const inTime = luaFunction(clock)`
if ARGV[2] ~= '' and clock() > tonumber(ARGV[2]) then
  return -clock()
end
`;
