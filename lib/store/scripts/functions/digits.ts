import { luaFunction } from './lua-function.js';

/** `digits(number)`: a whole number in full, since Lua prints large ones in scientific notation. */
export const digits = luaFunction()`
local function digits(number)
  return string.format('%.0f', number)
end
`;
