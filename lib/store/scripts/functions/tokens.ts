import { HOLD_TOKENS } from '../../grant.js';
import { luaFunction } from '../lua-script.js';
import { clock, digits, outlast } from './time.js';

/** `look()`: reads the last token of the counter `fence` into `last`, once in a call, and the clock. */
export const look = luaFunction(clock)`
local last
local function look()
  clock()
  if not last then
    last = tonumber(redis.call('GET', fence) or '0') or 0
  end
end
`;

/**
 * `mint(n, needed)`: mints a block of fencing tokens; returns the first token, the number of consecutive tokens, and
 * the digits of the first one. Reads `fence`, the counter's key.
 *
 * The first token is max(last + 1, server time in microseconds), so tokens continue to grow with the clock when the
 * counter is lost (FLUSHALL) or stale (failover). Blocks move the counter at most 10 ms ahead of the clock. If the
 * clock was set back, the lead may also contain as many whole seconds as lie between clock and counter. Beyond that
 * limit, only one token, or the `needed` ones, are minted. Minting single tokens takes longer than they advance the
 * counter, so only the clock causes such seconds, and they pass.
 *
 * If the clock has no microseconds, tokens lie at the end of its milliseconds, beyond all tokens within them. A counter
 * beside its lock (on a Cluster) is kept until the clock is ten minutes beyond it, so that no name leaves one
 * permanently.
 */
export const mint = luaFunction(look, digits, outlast)`
local is_beside = fence == KEYS[2] .. ':fence'
local function mint(n, needed)
  look()
  if last > now and n > 1 then
    local steps = math.max(0, math.ceil((last - now - 20000) / 1000000))
    n = math.max(needed or 1, math.min(n, now + steps * 1000000 + 10000 - last))
  end
  local token = math.max(last + 1, now + grain)
  last = token + n - 1
  local text = digits(token)
  local used = n == 1 and text or digits(last)
  if is_beside then
    redis.call('SET', fence, used, 'PX', outlast(600000, last))
  else
    redis.call('SET', fence, used)
  end
  return token, n, text
end
`;

/**
 * `mint_shares(n)`: mints the fencing tokens for n shared holds, several for each if the clock permits. It returns the
 * first token, how many each hold has, its digits, and `<n>/<number of tokens>`.
 */
export const mintShares = luaFunction(mint)`
local function mint_shares(n)
  local token, block, text = mint(n * ${HOLD_TOKENS}, n)
  return token, math.floor(block / n), text, n .. '/' .. block
end
`;

/**
 * `token_floor()`: a number that every later token exceeds, to distinguish grants before this moment from grants after
 * it.
 */
export const tokenFloor = luaFunction(look)`
local function token_floor()
  look()
  return math.max(last, now)
end
`;
