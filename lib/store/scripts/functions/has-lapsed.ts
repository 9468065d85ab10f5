import { live } from './live.js';
import { luaFunction } from './lua-function.js';

/** `has_lapsed(shared, instance, turn)`: whether an instance let a lease by hand-off of an earlier part of the turn run out. */
export const hasLapsed = luaFunction(live)`
local function has_lapsed(shared, instance, turn)
  local name = string.match(turn, '^([%l%d]+)X')
  if not name or not shared or type(redis.pcall('ZCARD', shared)) == 'table' then
    return false
  end
  live(shared)
  return lapsed[instance .. '~' .. name]
end
`;
