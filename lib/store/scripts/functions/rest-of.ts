import { luaFunction } from './lua-function.js';

/**
 * `rest_of(place, n)`: the place in the queue of what is left of a shared turn once n of its holds were granted, or nil when
 * nothing is. Its turn is named `<turn>X<holds granted so far>`, so that its instance knows without being told.
 */
export const restOf = luaFunction()`
local function rest_of(place, n)
  local before, wanted, turn, had, limit = string.match(place, '^(.*|)(%d+)|([%l%d]+)X?(%d*)|(%d*)$')
  if wanted - n < 1 then
    return nil
  end
  return before .. wanted - n .. '|' .. turn .. 'X' .. (tonumber(had) or 0) + n .. '|' .. limit
end
`;
