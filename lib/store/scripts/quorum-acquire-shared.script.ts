import { call, grantOf, join, leave, rank, reserve } from './functions/quorum.js';
import { check } from './functions/request.js';
import { cover, live, share } from './functions/shares.js';
import { clock, ends, outlast } from './functions/time.js';
import { include } from './functions/lua-function.js';
import { luaScriptForEach } from './lua-script.js';

/**
 * Votes on shared holds, one for each proposed token, on behalf of a node. The node accepts only tokens that exceed all
 * tokens that it has accepted for this name, shared or not.
 *
 * KEYS  1 lock, 2 queue, 3 fence of this name, 4 shared holders
 * ARGV  1 instance, 2 turn, different for each proposal, 3 first proposed token, 4 the last one, 5 ttl in ms,
 *       6 place in the queue or '' (do not queue), 7 ms for which the fence is kept once the clock is beyond it, 8 inbox channel prefix,
 *       9 ms of a reservation, 10 lock name
 * Reply accepted: { 1, server time, last token }
 *       taken:    { 0, server time, last token, ms left of the holder's lease (-1: no expiry), owner id, or `shared` }
 *       outdated: { 2, server time, last token } the proposal must be greater
 *
 * A waiting exclusive instance is not overtaken, unless it is dead, and so no longer listens. Only shared requests
 * check this, so that exclusive ones pay nothing. An exclusive lock of this instance gives way as in quorum-acquire. A
 * request that arrives after its release is outdated; a repeated request adds no hold that was released in between.
 *
 * O(k log n + w) for k holds, n holders and w waiting instances.
 */
export const quorumAcquireSharedScript = luaScriptForEach('quorum-acquire-shared')`
${include(clock, outlast, check, live, cover, ends, share, grantOf, rank, join, leave, call, reserve)}
local lock, queue, fence, shared = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local instance, first, ttl, place = ARGV[1], tonumber(ARGV[3]), tonumber(ARGV[5]), ARGV[6]
local turn, holds = instance .. '~' .. ARGV[2], tonumber(ARGV[4]) - first + 1
local owner = redis.call('GET', lock)
local last = tonumber(redis.call('GET', fence) or '0') or 0
local own = grant_of(instance, owner)
check(queue)
local function taken(by)
  if place ~= '' then
    join(queue, place)
  end
  return { 0, clock(), last, redis.call('PTTL', lock), by }
end
local function is_overtaking()
  local since = place == '' and math.huge or rank(queue, place)
  local waiting = redis.call('ZRANGE', queue, 0, -1, 'WITHSCORES')
  for i = 1, #waiting, 2 do
    local other = waiting[i]
    if tonumber(waiting[i + 1]) >= since then
      return false
    end
    if not string.find(other, '|', 1, true) then
      if other ~= instance and call(ARGV[8] .. other, 'waiting') then
        return true
      end
      redis.call('ZREM', queue, other)
    end
  end
  return false
end
if owner and not own and owner ~= 'shared' then
  return taken(owner)
end
if owner == 'shared' then
  live(shared)
  if redis.call('ZSCORE', shared, turn .. ':1') then
    for i = 1, holds do
      redis.call('ZADD', shared, 'XX', 'GT', ends(ttl), turn .. ':' .. i)
    end
    cover(lock, shared)
    return { 1, clock(), last }
  end
end
if first <= last or first <= (own or 0) then
  return { 2, clock(), last }
end
local reserved = own == 0 or owner == 'shared' and redis.call('ZSCORE', shared, instance .. ':0')
if not reserved and is_overtaking() then
  if owner ~= 'shared' then
    owner = reserve(lock, queue, fence, shared, ARGV[8], ARGV[9], ARGV[10])
  end
  return taken(owner)
end
if owner == 'shared' then
  redis.call('ZREM', shared, instance .. ':0')
else
  redis.call('DEL', shared)
end
share(lock, shared, turn, holds, ends(ttl))
redis.call('SET', fence, ARGV[4], 'PX', outlast(ARGV[7], ARGV[4]))
leave(queue, instance)
return { 1, clock(), tonumber(ARGV[4]) }
`;
