/**
 * Mints a block of fencing tokens: `mint(fence, n)` returns the first token and how many follow in a row from it.
 *
 * The first token is max(last + 1, server time in microseconds), so tokens go on growing when the counter
 * is lost (FLUSHALL) or stale (failover): the clock carries them. While the counter is ahead of the clock by
 * more than 10 ms, blocks shrink to a single token, so that the clock catches up.
 * Lua prints large numbers in scientific notation, hence `digits`.
 */
export const MINT = `
local function digits(number)
  return string.format('%.0f', number)
end
local function mint(fence, n)
  local time = redis.call('TIME')
  local now = time[1] * 1000000 + time[2]
  local last = tonumber(redis.call('SET', fence, digits(now + n - 1), 'GET') or '0') or 0
  if last < now then
    return now, n
  end
  if last > now + 10000 then
    n = 1
  end
  redis.call('SET', fence, digits(last + n))
  return last + 1, n
end
`;

/**
 * Hands the lock to the first waiting instance that is alive: `hand_off(lock, queue, fence, inbox, name, own)`
 * returns the new owner id, or nil when nobody waits. Comes the turn of `own`, the caller's own queue member,
 * that is returned and nothing granted: the caller needs no message.
 *
 * PUBLISH counts its receivers: none means that the instance is gone, so its place goes to the next.
 * The grant runs for the short claim lease that the waiter asked for; its first renewal makes it a full one.
 * Queue members are `<instance>|<claim lease in ms>|<tokens wanted>`.
 */
export const HAND_OFF = `
local function hand_off(lock, queue, fence, inbox, name, own)
  while true do
    local member = redis.call('ZPOPMIN', queue)[1]
    if not member then
      return nil
    end
    if member == own then
      return own
    end
    local instance, claim, wanted = string.match(member, '^(.*)|(%d+)|(%d+)$')
    if instance then
      local token, n = mint(fence, tonumber(wanted))
      local grant = 'granted ' .. digits(token) .. ' ' .. n .. ' ' .. claim .. ' ' .. name
      if redis.call('PUBLISH', inbox .. instance, grant) > 0 then
        local owner = instance .. ':' .. digits(token)
        redis.call('SET', lock, owner, 'PX', claim)
        return owner
      end
    end
  end
end
`;

/**
 * Puts a waiting instance at the end of the queue; one that is already there keeps its place.
 * The queue outlives its last refresh by a minute, so that a crashed application leaves nothing for good.
 */
export const ENQUEUE = `
local function enqueue(queue, member)
  local time = redis.call('TIME')
  redis.call('ZADD', queue, 'NX', digits(time[1] * 1000000 + time[2]), member)
  redis.call('PEXPIRE', queue, 60000)
end
`;

/** A number that every token minted later exceeds: tells grants made before this moment from those made after. */
export const MARK = `
local function mark(fence)
  local time = redis.call('TIME')
  return math.max(tonumber(redis.call('GET', fence) or '0') or 0, time[1] * 1000000 + time[2])
end
`;
