import { grantOf, join, reserve } from './functions/quorum.js';
import { check } from './functions/request.js';
import { clock, outlast } from './functions/time.js';
import { include } from './functions/lua-function.js';
import { luaScriptForEach } from './lua-script.js';

/**
 * Ends a turn on one node while the instance has more callers: reserves the lock for another waiting instance and
 * queues this one. If no other instance waits there, the node accepts the instance's next token.
 *
 * KEYS  1 lock, 2 queue, 3 fence of this name
 * ARGV  1 instance, 2 token of the hold, 3 proposed token, 4 last token of its block, 5 ttl in ms,
 *       6 place in the queue or '' (do not queue), 7 ms for which the fence is kept once the clock is beyond it, 8 inbox channel prefix,
 *       9 ms of a reservation, 10 lock name
 * Reply kept:     { 1, server time, last token }
 *       handed:   { 0, server time, last token, ms of the reservation, owner id of it }
 *       outdated: { 2, server time, last token } the proposal must be greater
 *       gone:     { -1, server time, last token } the hold no longer had the lock
 *
 * O(log n) for n waiting instances.
 */
export const quorumYieldScript = luaScriptForEach('quorum-yield')`
${include(clock, outlast, check, grantOf, join, reserve)}
local lock, queue, fence = KEYS[1], KEYS[2], KEYS[3]
local instance, proposed = ARGV[1], tonumber(ARGV[3])
local last = tonumber(redis.call('GET', fence) or '0') or 0
local own = grant_of(instance, redis.call('GET', lock))
if own == proposed then
  return { 1, clock(), last }
end
if own ~= tonumber(ARGV[2]) then
  return { -1, clock(), last }
end
check(queue)
local reserved = reserve(lock, queue, fence, ARGV[8], ARGV[9], ARGV[10])
if reserved then
  if ARGV[6] ~= '' then
    join(queue, ARGV[6])
  end
  return { 0, clock(), last, tonumber(ARGV[9]), reserved }
end
if proposed <= last then
  return { 2, clock(), last }
end
redis.call('SET', lock, instance .. ':' .. ARGV[3], 'PX', ARGV[5])
redis.call('SET', fence, ARGV[4], 'PX', outlast(ARGV[7], ARGV[4]))
return { 1, clock(), tonumber(ARGV[4]) }
`;
