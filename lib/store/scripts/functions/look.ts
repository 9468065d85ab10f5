import { clock } from './clock.js';
import { luaFunction } from './lua-function.js';

/** `look()`: reads into `last` the last token of the counter whose key is `fence`, once in a call, and the clock. */
export const look = luaFunction(clock)`
local last
local function look()
  clock()
  if not last then
    last = tonumber(redis.call('GET', fence) or '0') or 0
  end
end
`;
