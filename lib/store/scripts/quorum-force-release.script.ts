import { call, reserve } from './functions/quorum.js';
import { check } from './functions/request.js';
import { cover, holders, live, namedIn } from './functions/shares.js';
import { include } from './functions/lua-function.js';
import { luaScript } from './lua-script.js';

/**
 * Ends holds on one node that may belong to any instance, notifies their inboxes, and continues with the queue.
 *
 * KEYS  1 lock, 2 queue, 3 fence of this name, 4 shared holders
 * ARGV  1 inbox channel prefix, 2 ms of a reservation, 3 lock name,
 *       then `only` and the owner ids of the holds to end, or nothing to end every hold
 * Reply { owner ids of the holds that ended, owner ids that hold the lock now }
 *
 * O(k log n) for k holders and n waiting instances.
 */
export const quorumForceReleaseScript = luaScript('quorum-force-release')`
${include(check, live, cover, holders, namedIn, call, reserve)}
local lock, queue, fence, shared = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local owner = redis.call('GET', lock)
if not owner then
  return { {}, {} }
end
check(queue)
redis.call('GET', fence)
local ended = named_in(holders(lock, shared), 4)
for _, each in ipairs(ended) do
  local instance = string.match(string.match(each, '^(.*):%d+$') or '', '^[^~]+')
  if instance then
    call(ARGV[1] .. instance, 'revoked ' .. each .. ' ' .. ARGV[3])
  end
  if owner == 'shared' then
    redis.call('ZREM', shared, each)
  end
end
if #ended > 0 then
  local reading = owner == 'shared' and live(shared) > 0
  if reading then
    cover(lock, shared)
  else
    redis.call('DEL', lock)
  end
  reserve(lock, queue, fence, shared, ARGV[1], ARGV[2], ARGV[3], reading)
end
return { ended, holders(lock, shared) }
`;
