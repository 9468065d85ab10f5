import { luaFunction } from './lua-function.js';
import { check } from './request.js';
import { cover } from './shares.js';
import { clock, digits, ends } from './time.js';

/**
 * `call(channel, message)`: whether anybody may have heard: where publishing is refused, nobody is told, and the instance has to find
 * what it would have been told of.
 */
export const call = luaFunction()`
local function call(channel, message)
  local receivers = redis.pcall('PUBLISH', channel, message)
  return type(receivers) ~= 'number' or receivers > 0
end
`;

/**
 * `grant_of(instance, owner)`: which grant of this instance a lock is: the number at the end of the owner id, 0 for a free lock
 * that is reserved for the instance, nil where the lock is somebody else's or free.
 */
export const grantOf = luaFunction()`
local function grant_of(instance, owner)
  if owner and string.sub(owner, 1, #instance + 1) == instance .. ':' then
    return tonumber(string.sub(owner, #instance + 2))
  end
end
`;

/**
 * `rank(queue, place)`: where a waiting instance stands in a node's queue, and which it is.
 *
 * Places are `<instance>|<microseconds>`, where the time is that of the first request of this wait: it is the same on all nodes,
 * so they agree on the order. Where somebody came in the future, the clocks were set back since, and the node goes by the
 * order in which it was asked.
 */
export const rank = luaFunction(clock)`
local function rank(queue, place)
  local instance, since = string.match(place, '^(.*)|(%d+)$')
  local newest = tonumber(redis.call('ZRANGE', queue, -1, -1, 'WITHSCORES')[2]) or 0
  since = tonumber(since)
  if since < newest and newest > clock() + 1000000 then
    since = tonumber(redis.call('ZSCORE', queue, instance)) or newest + 1
  end
  return since, instance
end
`;

/**
 * `join(queue, place)`: puts a waiting instance into the node's queue. The queue outlives its last refresh by a minute, so that a
 * crashed application leaves nothing for good.
 */
export const join = luaFunction(check, digits, rank)`
local function join(queue, place)
  check()
  local since, instance = rank(queue, place)
  redis.call('ZADD', queue, digits(since), instance)
  redis.call('PEXPIRE', queue, 60000)
end
`;

/**
 * `leave(queue, instance)`: takes an instance out of the node's queue. Its place is the instance itself where it wants the lock
 * alone, and has `|0|0|s|` after that where it wants shared holds, as the places in the queue of one Redis begin.
 */
export const leave = luaFunction()`
local function leave(queue, instance)
  redis.pcall('ZREM', queue, instance, instance .. '|0|0|s|')
end
`;

/**
 * `reserve(lock, queue, fence, shared, inbox, claim_ttl, name, reading)`: reserves a free lock for the first waiting instance that listens,
 * and tells it; returns the reservation, or nil when nobody waits who could have it.
 *
 * A lock that is to be shared is reserved for all of those at the head of the queue who would share it, by a hold `<instance>:0`
 * for each, and each is told. `reading` says that it is shared already: then only for them.
 *
 * PUBLISH counts its receivers: none means that the instance is gone, so its place goes to the next. Without the reservation the
 * instance that has just released would always be the first to ask again.
 */
export const reserve = luaFunction(call, cover, ends)`
local function reserve(lock, queue, fence, shared, inbox, claim_ttl, name, reading)
  local reserved
  while true do
    local place = redis.call('ZRANGE', queue, 0, 0)[1]
    local instance = place and string.match(place, '^[^|]*')
    local alone = place == instance
    if not place or alone and (reading or reserved) then
      return reserved
    end
    redis.call('ZREM', queue, place)
    local message = 'released ' .. (redis.call('GET', fence) or '0') .. ' ' .. name
    if call(inbox .. instance, message) then
      if alone then
        redis.call('SET', lock, instance .. ':0', 'PX', claim_ttl)
        return instance .. ':0'
      end
      if not reading and not reserved then
        redis.call('DEL', shared)
      end
      redis.call('ZADD', shared, ends(tonumber(claim_ttl)), instance .. ':0')
      cover(lock, shared)
      reserved = 'shared'
    end
  end
end
`;
