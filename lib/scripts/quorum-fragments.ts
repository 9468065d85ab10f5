/**
 * Which grant of this instance a lock is: `grant_of(instance, owner)` returns the number at the end of the owner id,
 * 0 for a free lock that is reserved for the instance, nil where the lock is somebody else's or free.
 */
export const GRANT_OF = `
local function grant_of(instance, owner)
  if owner and string.sub(owner, 1, #instance + 1) == instance .. ':' then
    return tonumber(string.sub(owner, #instance + 2))
  end
end
`;

/**
 * Puts a waiting instance into the node's queue: `join(queue, place)`. Places are `<instance>|<microseconds>`, where
 * the time is that of the first request of this wait: it is the same on all nodes, so they agree on the order.
 * The queue outlives its last refresh by a minute, so that a crashed application leaves nothing for good.
 */
export const JOIN = `
local function join(queue, place)
  local instance, since = string.match(place, '^(.*)|(%d+)$')
  redis.call('ZADD', queue, since, instance)
  redis.call('PEXPIRE', queue, 60000)
end
`;

/**
 * Reserves a free lock for the first waiting instance that listens, and tells it:
 * `reserve(lock, queue, fence, inbox, claim, name)` returns the reservation, or nil when nobody waits.
 *
 * PUBLISH counts its receivers: none means that the instance is gone, so its place goes to the next. Without the
 * reservation the instance that has just released would always be the first to ask again.
 */
export const RESERVE = `
local function reserve(lock, queue, fence, inbox, claim, name)
  while true do
    local instance = redis.call('ZPOPMIN', queue)[1]
    if not instance then
      return nil
    end
    local message = 'released ' .. (redis.call('GET', fence) or '0') .. ' ' .. name
    if redis.call('PUBLISH', inbox .. instance, message) > 0 then
      redis.call('SET', lock, instance .. ':0', 'PX', claim)
      return instance .. ':0'
    end
  end
end
`;

/** The time of the node's clock in microseconds. */
export const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
`;
