import { grantOf, join, luaScriptForEach } from './functions/quorum.js';
import { clock, outlast } from './functions/time.js';
import { include } from './lua-script.js';

/**
 * Votes on a grant, on behalf of a node. The instance proposes the fencing token, and a node accepts only tokens beyond
 * all that it has accepted for this name.
 *
 * KEYS  1 lock, 2 queue, 3 fence of this name.
 * ARGV  1 instance, 2 proposed token, 3 last token of its block, 4 ttl in ms. 5 place in the queue or '' (do not
 *       queue), 6 ms for which the fence is kept once the clock is beyond it.
 * Reply accepted: { 1, server time, last token }.
 *       taken:    { 0, server time, last token, ms left of the holder's lease (-1: no expiry), owner id }.
 *       outdated: { 2, server time, last token }: the proposal must be greater.
 *
 * A lock of this instance with an older token comes from an earlier proposal, an ended hold or a reservation, and gives
 * way. A request that arrives after the release of its hold is outdated.
 *
 * O(log n) for n waiting instances; O(1) for a free name.
 */
export const quorumAcquireScript = luaScriptForEach('quorum-acquire')`
${include(clock, outlast, grantOf, join)}
local lock, queue, fence = KEYS[1], KEYS[2], KEYS[3]
local instance, proposed, place = ARGV[1], tonumber(ARGV[2]), ARGV[5]
local owner = redis.call('GET', lock)
local last = tonumber(redis.call('GET', fence) or '0') or 0
local own = grant_of(instance, owner)
if owner and not own then
  if place ~= '' then
    join(queue, place)
  end
  return { 0, clock(), last, redis.call('PTTL', lock), owner }
end
if own == proposed and own > 0 then
  clock()
  redis.call('PEXPIRE', lock, ARGV[4])
  return { 1, clock(), last }
end
if proposed <= last or proposed <= (own or 0) then
  return { 2, clock(), last }
end
clock()
redis.call('SET', lock, instance .. ':' .. ARGV[2], 'PX', ARGV[4])
redis.call('SET', fence, ARGV[3], 'PX', outlast(ARGV[6], ARGV[3]))
redis.pcall('ZREM', queue, instance)
return { 1, clock(), tonumber(ARGV[3]) }
`;
