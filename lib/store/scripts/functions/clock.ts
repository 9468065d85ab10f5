import { luaFunction } from './lua-function.js';

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
