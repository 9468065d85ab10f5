import { createHash } from 'node:crypto';
import type { LuaScript } from '../../lib/store/scripts/lua-script.js';

/** The server's time in microseconds, as the test sets it. */
export const CLOCK = 'test:now';
/** When keys expire, in milliseconds since 1970. */
const ENDS = 'test:ends';
/** Messages that scripts published: channel and message by turns. */
export const PUBLISHED = 'test:published';

/**
 * Stands before the text of a script and hides `redis` from it: all commands run on the real server, but the time is what
 * the test says, and keys expire by that time. Messages are published and noted.
 */
const PRELUDE = `
local real, now = redis, tonumber(redis.call('GET', '${CLOCK}'))
local ms = math.floor(now / 1000)
local function unless_empty(...)
  local key = select(1, ...)
  if real.call('EXISTS', key) == 0 then
    real.call('HDEL', '${ENDS}', key)
  end
end
local function end_at(key, time)
  if time < ms then
    real.call('DEL', key)
    real.call('HDEL', '${ENDS}', key)
  else
    real.call('HSET', '${ENDS}', key, string.format('%.0f', time))
  end
end
local function left(key, since)
  if real.call('EXISTS', key) == 0 then
    return -2
  end
  local time = real.call('HGET', '${ENDS}', key)
  return time and tonumber(time) - since or -1
end
local function emptying(command)
  return function(run, key, ...)
    local reply = run(command, key, ...)
    unless_empty(key)
    return reply
  end
end
local function publishing(command)
  return function(run, channel, message)
    real.call('RPUSH', '${PUBLISHED}', channel, message)
    return run(command, channel, message)
  end
end
local stepped = {
  TIME = function()
    return { string.format('%.0f', math.floor(now / 1000000)), string.format('%.0f', now % 1000000) }
  end,
  PTTL = function(run, key) return left(key, ms) end,
  PEXPIRETIME = function(run, key) return left(key, 0) end,
  PEXPIREAT = function(run, key, time)
    if real.call('EXISTS', key) == 0 then
      return 0
    end
    end_at(key, tonumber(time))
    return 1
  end,
  PEXPIRE = function(run, key, lease)
    if real.call('EXISTS', key) == 0 then
      return 0
    end
    end_at(key, ms + lease)
    return 1
  end,
  SET = function(run, key, value, ...)
    local rest, time, given, i = {}, nil, { ... }, 1
    while i <= #given do
      if given[i] == 'PX' then
        time, i = ms + given[i + 1], i + 1
      elseif given[i] == 'PXAT' then
        time, i = tonumber(given[i + 1]), i + 1
      else
        rest[#rest + 1] = given[i]
      end
      i = i + 1
    end
    local reply = run('SET', key, value, unpack(rest))
    real.call('HDEL', '${ENDS}', key)
    if time then
      end_at(key, time)
    end
    return reply
  end,
  DEL = function(run, ...)
    real.call('HDEL', '${ENDS}', ...)
    return run('DEL', ...)
  end,
  ZREM = emptying('ZREM'),
  ZPOPMIN = emptying('ZPOPMIN'),
  PUBLISH = publishing('PUBLISH'),
  SPUBLISH = publishing('SPUBLISH'),
}
local function by(run)
  return function(command, ...)
    local step = stepped[command]
    if step then
      return step(run, ...)
    end
    return run(command, ...)
  end
end
for _, key in ipairs(real.call('HKEYS', '${ENDS}')) do
  end_at(key, tonumber(real.call('HGET', '${ENDS}', key)))
end
local redis = setmetatable({ call = by(real.call), pcall = by(real.pcall) }, { __index = real })
`;

/** Lets the commands of a script see the time that the test sets. */
export function stepped(script: Pick<LuaScript, 'name' | 'lua'>): LuaScript {
  const lua = PRELUDE + script.lua;
  return { name: script.name, lua, sha: createHash('sha1').update(lua).digest('hex') };
}
