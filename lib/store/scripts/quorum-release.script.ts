import { notify } from './functions/hand-off.js';
import { grantOf, join, reserve, luaScriptForEach } from './functions/quorum.js';
import { check } from './functions/request.js';
import { outlast } from './functions/time.js';
import { include } from './lua-script.js';

/**
 * Ends a hold, a proposal without a majority, or a wait on one node. Removes what the instance has there up to the given
 * token, and makes later requests for it outdated. A forced release ends only the hold of an owner, and notifies it.
 *
 * KEYS  1 lock, 2 queue, 3 fence of this name.
 * ARGV  1 instance, or the owner id of a forced release. 2 token, 0 for a forced release.
 *       3 `wake` or `quiet`: whether to notify waiting instances, or `revoke` for a forced release, which notifies them.
 *       4 place to take in the queue, `cancel` to leave it, or '' for neither.
 *       5 inbox channel prefix, 6 ms of a reservation, 7 lock name.
 * Reply 1 released, 0 the instance or the owner had nothing here.
 *
 * O(log n) for n waiting instances.
 */
export const quorumReleaseScript = luaScriptForEach('quorum-release')`
local lock, queue, fence, inbox = KEYS[1], KEYS[2], KEYS[3], ARGV[5]
${include(outlast, check, notify, grantOf, join, reserve)}
local instance, token, mode, place = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4]
local last = tonumber(redis.call('GET', fence) or '0') or 0
local owner = redis.call('GET', lock)
local own = owner == instance and 0 or grant_of(instance, owner)
local is_awaited = mode ~= 'quiet' and redis.call('ZCARD', queue) > 0
if place ~= '' or is_awaited then
  check(queue)
end
if place == 'cancel' then
  redis.pcall('ZREM', queue, instance)
end
if last < token then
  redis.call('SET', fence, ARGV[2], 'PX', outlast(600000, token))
end
local released = 0
if own and own <= token then
  local holder = mode == 'revoke' and string.match(owner, '^(.*):%d+$')
  if holder then
    notify(holder, 'revoked ' .. owner .. ' ' .. ARGV[7])
  end
  redis.call('DEL', lock)
  owner = false
  released = 1
end
if is_awaited and not owner then
  reserve(lock, queue, ARGV[6], ARGV[7])
end
if place ~= 'cancel' and place ~= '' then
  join(queue, place)
end
return released
`;
