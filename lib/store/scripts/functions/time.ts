import { luaFunction } from './lua-function.js';

/** `digits(number)`: a whole number in full, since Lua prints large ones in scientific notation. */
export const digits = luaFunction()`
local function digits(number)
  return string.format('%.0f', number)
end
`;

/**
 * `clock()`: the server's time in microseconds, the same for all of a call.
 *
 * Where scripts may not ask for it, the end of a key less what is left until then tells it to the millisecond: that of the
 * script's first key, which is given one for a moment where it has none. `grain` is what is left to the next time then.
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
 * No function, but a look before everything else: answers a request that comes too late to be anything but a copy that was
 * long on its way with minus the server's time. Reads ARGV[2]: the server's time in microseconds until which the request counts, ''
 * where the instance does not know it.
 */
export const inTime = luaFunction(clock)`
if ARGV[2] ~= '' and clock() > tonumber(ARGV[2]) then
  return -clock()
end
`;

/** `ends(ttl)`: when a lease of so many ms that begins now ends, as holders are scored. */
export const ends = luaFunction(clock, digits)`
local function ends(ttl)
  return digits(math.floor(clock() / 1000) + ttl)
end
`;

/** `outlast(ms, token)`: how long to keep a counter that ends at a token: the ms after the clock is beyond it. */
export const outlast = luaFunction(clock, digits)`
local function outlast(ms, token)
  return digits(ms + math.max(0, math.ceil((token - clock()) / 1000)))
end
`;
