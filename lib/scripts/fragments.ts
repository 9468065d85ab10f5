/**
 * Mints a block of fencing tokens: `mint(n)` returns the first token, how many follow in a row from it, and the first
 * one's digits. Reads `fence`, the counter's key.
 *
 * The first token is max(last + 1, server time in microseconds), so tokens go on growing when the counter
 * is lost (FLUSHALL) or stale (failover): the clock carries them. While the counter is ahead of the clock by
 * more than 10 ms, blocks shrink to a single token, so that the clock catches up.
 * Lua prints large numbers in scientific notation, hence `digits`.
 * A counter beside its lock (in a Cluster) is kept for ten minutes only, so that no name leaves one for good.
 */
export const MINT = `
local now, last
local kept = string.sub(fence, -7) == '}:fence' and '600000'
local function digits(number)
  return string.format('%.0f', number)
end
local function look()
  if not now then
    local time = redis.call('TIME')
    now = time[1] * 1000000 + time[2]
    last = tonumber(redis.call('GET', fence) or '0') or 0
  end
end
local function mint(n)
  look()
  if last > now + 10000 then
    n = 1
  end
  local token = math.max(last + 1, now)
  last = token + n - 1
  local text = digits(token)
  local used = n == 1 and text or digits(last)
  if kept then
    redis.call('SET', fence, used, 'PX', kept)
  else
    redis.call('SET', fence, used)
  end
  return token, n, text
end
`;

/** A number that every token minted later exceeds: tells grants made before this moment from those made after. */
export const MARK = `
local function mark()
  look()
  return math.max(last, now)
end
`;

/**
 * Hands the lock to the first waiting instance that is alive: `hand_off(lock, queue, own)` returns the new
 * owner id, or nil when nobody waits. Comes the turn of `own`, the caller's own queue member, that is returned
 * and nothing granted: the caller needs no message. Reads `inbox`, the prefix of the instances' channels, and
 * `prefix`, the length of what precedes `{name}` in keys.
 *
 * An inbox with a hash tag is heard in the slot of the lock (in a Cluster), hence SPUBLISH.
 * Publishing counts the receivers: none means that the instance is gone, so its place goes to the next.
 * With an empty `inbox` nobody is told: the instance finds the lock when it asks again, or its lease runs out.
 * The grant runs for the short claim lease that the waiter asked for; its first renewal makes it a full one.
 * Queue members are `<instance>|<claim lease in ms>|<tokens wanted>`.
 */
export const HAND_OFF = `
local function hand_off(lock, queue, own)
  while true do
    local member = redis.call('ZPOPMIN', queue)[1]
    if not member then
      return nil
    end
    if member == own then
      return own
    end
    local instance, claim, wanted = string.match(member, '^([^|]+)|(%d+)|(%d+)$')
    if instance then
      local _, n, token = mint(tonumber(wanted))
      local grant = 'granted ' .. token .. ' ' .. n .. ' ' .. claim .. ' ' .. string.sub(lock, prefix + 2, -2)
      local publish = string.find(inbox, '{', 1, true) and 'SPUBLISH' or 'PUBLISH'
      if inbox == '' or redis.call(publish, inbox .. instance, grant) > 0 then
        local owner = instance .. ':' .. token
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
  look()
  redis.call('ZADD', queue, 'NX', digits(now), member)
  redis.call('PEXPIRE', queue, 60000)
end
`;
