import { luaFunction } from '../lua-script.js';

/** `digits(number)`: prints a whole number in full, because Lua prints large ones in scientific notation. */
export const digits = luaFunction()`
local function digits(number)
  return string.format('%.0f', number)
end
`;

/**
 * `clock()`: the server's time in microseconds, constant within a call.
 *
 * If scripts must not call TIME, the expiry of a key minus its remaining time gives the time in milliseconds. This uses
 * the script's first key, which receives an expiry for a moment if it has none. `grain` is the uncertainty of the time
 * in microseconds: 999 for such a time, otherwise 0.
 */
export const clock = luaFunction()`
local now, grain = nil, 0
local function clock()
  if now then
    return now
  end
  local time = redis.pcall('TIME')
  if not time.err then
    now = time[1] * 1000000 + time[2]
    return now
  end
  local key = KEYS[1]
  grain = 999
  local ends = redis.pcall('PEXPIRETIME', key)
  if type(ends) == 'table' then
    error(time)
  elseif ends < 0 then
    local value = redis.call('GET', key)
    redis.call('SET', key, value or '', 'PX', 1000)
    now = (redis.call('PEXPIRETIME', key) - redis.call('PTTL', key)) * 1000
    if value then
      redis.call('SET', key, value)
    else
      redis.call('DEL', key)
    end
  else
    now = (ends - redis.call('PTTL', key)) * 1000
  end
  return now
end
`;

/**
 * Checks at the beginning of a script whether the request is in time; inline code, not a function. A late request can
 * only be a delayed copy: the reply is minus the server's time. Reads ARGV[2]: the server's time in microseconds until
 * which the request counts, or '' if unknown.
 */
export const inTime = luaFunction(clock)`
if ARGV[2] ~= '' and clock() > tonumber(ARGV[2]) then
  return -clock()
end
`;

/** `ends(ttl)`: the end of a lease of `ttl` ms from now, as a score of holders. */
export const ends = luaFunction(clock, digits)`
local function ends(ttl)
  return digits(math.floor(clock() / 1000) + ttl)
end
`;

/**
 * `outlast(ms, token)`: how long to keep a counter with a last token: until `ms` after the clock has passed that token.
 */
export const outlast = luaFunction(clock, digits)`
local function outlast(ms, token)
  return digits(ms + math.max(0, math.ceil((token - clock()) / 1000)))
end
`;
