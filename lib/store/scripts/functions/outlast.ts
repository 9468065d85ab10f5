import { clock } from './clock.js';
import { digits } from './digits.js';
import { luaFunction } from './lua-function.js';

/** `outlast(ms, token)`: how long to keep a counter that ends at a token: the ms after the clock is beyond it. */
export const outlast = luaFunction(clock, digits)`
local function outlast(ms, token)
  return digits(ms + math.max(0, math.ceil((token - clock()) / 1000)))
end
`;
