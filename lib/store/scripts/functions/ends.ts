import { clock } from './clock.js';
import { digits } from './digits.js';
import { luaFunction } from './lua-function.js';

/** `ends(ttl)`: when a lease of so many ms that begins now ends, as holders are scored. */
export const ends = luaFunction(clock, digits)`
local function ends(ttl)
  return digits(math.floor(clock() / 1000) + ttl)
end
`;
