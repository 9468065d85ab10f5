import { GRANT_OF, JOIN, RESERVE } from './quorum-fragments.js';
import { luaScript } from './lua-script.js';

/**
 * One node's end of a hold, of a proposal that found no majority, or of a wait. Takes away what the instance has
 * there up to the given token, and sees to it that a request for it which arrives later is outdated.
 *
 * KEYS  1 lock, 2 queue, 3 fence of this name
 * ARGV  1 instance, 2 token, 3 `wake` or `quiet`: whether the next waiting instance is told of a free lock,
 *       4 place to take in the queue, `leave` to leave it, or '' for neither,
 *       5 inbox channel prefix, 6 ms of a reservation, 7 lock name
 * Reply 1 released, 0 the lock was not this instance's
 *
 * O(log n) for n waiting instances.
 */
export const quorumReleaseScript = luaScript(
  'quorum-release',
  `${GRANT_OF}${JOIN}${RESERVE}
local lock, queue, fence = KEYS[1], KEYS[2], KEYS[3]
local token = tonumber(ARGV[2])
local place = ARGV[4]
if place == 'leave' then
  redis.call('ZREM', queue, ARGV[1])
end
if (tonumber(redis.call('GET', fence) or '0') or 0) < token then
  redis.call('SET', fence, ARGV[2], 'PX', 600000)
end
local owner = redis.call('GET', lock)
local own = grant_of(ARGV[1], owner)
local released = 0
if own and own <= token then
  redis.call('DEL', lock)
  owner = false
  released = 1
end
if not owner and ARGV[3] == 'wake' then
  reserve(lock, queue, fence, ARGV[5], ARGV[6], ARGV[7])
end
if place ~= 'leave' and place ~= '' then
  join(queue, place)
end
return released
`,
);
