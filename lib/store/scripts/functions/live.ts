import { clock } from './clock.js';
import { digits } from './digits.js';
import { luaFunction } from './lua-function.js';

/**
 * `live(shared)`: how many of the holders in `shared` have leases that have not run out; the others go.
 *
 * Holds that others may have at the same time are scored by the end of their leases in ms since 1970. That of a lease by
 * hand-off is half a millisecond later until its instance has renewed it: the turns of such as run out are noted in `lapsed`, for nobody may be
 * there any more.
 */
export const live = luaFunction(clock, digits)`
local lapsed = {}
local function live(shared)
  local over = redis.call('ZRANGE', shared, '-inf', digits(math.floor(clock() / 1000)), 'BYSCORE', 'WITHSCORES')
  for i = 1, #over, 2 do
    redis.call('ZREM', shared, over[i])
    if string.find(over[i + 1], '.', 1, true) then
      lapsed[string.match(over[i], '^[^~]*~[%l%d]+')] = true
    end
  end
  return redis.call('ZCARD', shared)
end
`;
