import { call, reserve } from './functions/quorum.js';
import { check } from './functions/request.js';
import { namedIn } from './functions/shares.js';
import { include } from './functions/lua-function.js';
import { luaScript } from './lua-script.js';

/**
 * Ends a hold on one node that may belong to any instance, notifies its inbox, and continues with the queue.
 *
 * KEYS  1 lock, 2 queue, 3 fence of this name
 * ARGV  1 inbox channel prefix, 2 ms of a reservation, 3 lock name,
 *       then `only` and the owner ids of the holds to end, or nothing to end every hold
 * Reply { owner ids of the holds that ended, owner ids that hold the lock now }
 *
 * O(log n) for n waiting instances.
 */
export const quorumForceReleaseScript = luaScript('quorum-force-release')`
${include(check, namedIn, call, reserve)}
local lock, queue, fence = KEYS[1], KEYS[2], KEYS[3]
local owner = redis.call('GET', lock)
if not owner then
  return { {}, {} }
end
check(queue)
redis.call('GET', fence)
local ended = named_in({ owner }, 4)
if #ended == 0 then
  return { {}, { owner } }
end
local instance = string.match(owner, '^(.*):%d+$')
if instance then
  call(ARGV[1] .. instance, 'revoked ' .. owner .. ' ' .. ARGV[3])
end
redis.call('DEL', lock)
local reserved = reserve(lock, queue, fence, ARGV[1], ARGV[2], ARGV[3])
return { ended, { reserved } }
`;
