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
 * Takes an instance out of the node's queue: `leave(queue, instance)`. Its place is the instance itself where it wants the
 * lock alone, and has `|0|0|s|` after that where it wants shared holds, as the places in the queue of one Redis begin.
 */
export const LEAVE = `
local function leave(queue, instance)
  redis.call('ZREM', queue, instance, instance .. '|0|0|s|')
end
`;

/**
 * Reserves a free lock for the first waiting instance that listens, and tells it:
 * `reserve(lock, queue, fence, shared, inbox, claim, name, reading)` returns the reservation, or nil when nobody waits
 * who could have it. Reads what SHARE offers.
 *
 * A lock that is to be shared is reserved for all of those at the head of the queue who would share it, by a hold
 * `<instance>:0` for each, and each is told. `reading` says that it is shared already: then only for them.
 *
 * PUBLISH counts its receivers: none means that the instance is gone, so its place goes to the next. Without the
 * reservation the instance that has just released would always be the first to ask again.
 */
export const RESERVE = `
local function reserve(lock, queue, fence, shared, inbox, claim, name, reading)
  local reserved
  while true do
    local member = redis.call('ZRANGE', queue, 0, 0)[1]
    local instance = member and string.match(member, '^[^|]*')
    local alone = member == instance
    if not member or alone and (reading or reserved) then
      return reserved
    end
    redis.call('ZREM', queue, member)
    local message = 'released ' .. (redis.call('GET', fence) or '0') .. ' ' .. name
    if redis.call('PUBLISH', inbox .. instance, message) > 0 then
      if alone then
        redis.call('SET', lock, instance .. ':0', 'PX', claim)
        return instance .. ':0'
      end
      if not reading and not reserved then
        redis.call('DEL', shared)
      end
      redis.call('ZADD', shared, ends(tonumber(claim)), instance .. ':0')
      cover(lock, shared)
      reserved = 'shared'
    end
  end
end
`;
