import { mint } from './mint.js';
import { luaFunction } from './lua-function.js';

/**
 * `mint_shares(turn, n)`: mints the fencing tokens for n holds of a shared turn, `s0<tokens for each>t…` or `s…` for one each;
 * returns the first token, its digits, and n, with `/<tokens>` after it where there are more.
 */
export const mintShares = luaFunction(mint)`
local function mint_shares(turn, n)
  local each = tonumber(string.match(turn, '^s0(%d+)t')) or 1
  local token, block, text = mint(math.max(n, math.min(n * each, 4096)), n)
  return token, text, block > n and n .. '/' .. block or n
end
`;
