import { look } from './look.js';
import { luaFunction } from './lua-function.js';

/** `token_floor()`: a number that every token minted later exceeds: tells grants made before this moment from those made after. */
export const tokenFloor = luaFunction(look)`
local function token_floor()
  look()
  return math.max(last, now)
end
`;
