import { call, reserve } from './functions/quorum.js';
import { check } from './functions/request.js';
import { live } from './functions/shares.js';
import { include } from './functions/lua-function.js';
import { luaScript } from './lua-script.js';

/**
 * Takes the lock on one node from whoever holds it, tells the holders' inboxes, and goes on with the queue.
 *
 * KEYS  1 lock, 2 queue, 3 fence of this name, 4 shared holders
 * ARGV  1 inbox channel prefix, 2 ms of a reservation, 3 lock name
 * Reply the owner ids that it was taken from
 *
 * O(k log n) for k holders and n waiting instances.
 */
export const quorumForceReleaseScript = luaScript('quorum-force-release')`
${include(check, live, call, reserve)}
local lock, queue, fence, shared = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local owner = redis.call('GET', lock)
if not owner then
  return {}
end
check(queue)
redis.call('GET', fence)
local owners = { owner }
if owner == 'shared' and live(shared) > 0 then
  owners = redis.call('ZRANGE', shared, 0, -1)
end
for _, each in ipairs(owners) do
  local instance = string.match(string.match(each, '^(.*):%d+$') or '', '^[^~]+')
  if instance then
    call(ARGV[1] .. instance, 'revoked ' .. each .. ' ' .. ARGV[3])
  end
end
redis.call('DEL', lock, shared)
reserve(lock, queue, fence, shared, ARGV[1], ARGV[2], ARGV[3])
return owners
`;
