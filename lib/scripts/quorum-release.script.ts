import { CLOCK, SHARE } from './fragments.js';
import { luaScript } from './lua-script.js';
import { GRANT_OF, JOIN, LEAVE, RESERVE } from './quorum-fragments.js';

/**
 * One node's end of holds, of a proposal that found no majority, or of a wait. Takes away what the instance has
 * there up to the given token, and sees to it that a request for it which arrives later is outdated.
 *
 * KEYS  1 lock, 2 queue, 3 fence of this name, 4 shared holders
 * ARGV  1 instance, 2 token, 3 `wake` or `quiet`: whether waiting instances are told of what they could have,
 *       4 place to take in the queue, `leave` to leave it, or '' for neither,
 *       5 inbox channel prefix, 6 ms of a reservation, 7 lock name, then owner ids of shared holds
 * Reply 1 released, 0 there was nothing of this instance
 *
 * O(k log n) for k holds, and n holders and waiting instances.
 */
export const quorumReleaseScript = luaScript(
  'quorum-release',
  `${CLOCK}${SHARE}${GRANT_OF}${JOIN}${LEAVE}${RESERVE}
local lock, queue, fence, shared = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local instance, token, place = ARGV[1], tonumber(ARGV[2]), ARGV[4]
local holds = { unpack(ARGV, 8) }
if place == 'leave' then
  leave(queue, instance)
  table.insert(holds, instance .. ':0')
end
if (tonumber(redis.call('GET', fence) or '0') or 0) < token then
  redis.call('SET', fence, ARGV[2], 'PX', 600000)
end
local owner = redis.call('GET', lock)
local own = grant_of(instance, owner)
local released = 0
if own and own <= token then
  redis.call('DEL', lock)
  owner = false
  released = 1
elseif owner == 'shared' and #holds > 0 then
  live(shared)
  released = math.min(1, redis.call('ZREM', shared, unpack(holds)))
  if released == 1 and redis.call('ZCARD', shared) > 0 then
    cover(lock, shared)
  elseif released == 1 then
    redis.call('DEL', lock)
    owner = false
  end
end
if ARGV[3] == 'wake' and (not owner or owner == 'shared') then
  reserve(lock, queue, fence, shared, ARGV[5], ARGV[6], ARGV[7], owner == 'shared')
end
if place ~= 'leave' and place ~= '' then
  join(queue, place)
end
return released
`,
);
