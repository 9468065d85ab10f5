import { serveQueue, handOff, restOf } from './functions/hand-off.js';
import { prepare } from './functions/request.js';
import { live, permits } from './functions/shares.js';
import { include } from './functions/lua-function.js';
import { luaScript } from './lua-script.js';

/**
 * Removes a waiting instance from the queue. If the lock was handed to the instance just before, the reply is the owner
 * id, so that the instance can release it. Shared holds that its turn was granted end at once, together with the rest
 * of the turn. Earlier parts of the turn have holders, which continue.
 *
 * KEYS  1 fence counter, 2 lock, 3 queue, 4 shared holders
 * ARGV  1 instance, 2 place in the queue, 3 inbox channel prefix or '' (no messages), 4 length of the key prefix
 * Reply the owner id of a grant to this instance, or false
 *
 * If the lock is shared or free, the script admits the waiters behind this one.
 *
 * O(n + h log n) for n holders and waiting instances, and the h holds that a turn wants.
 */
export const cancelScript = luaScript('cancel')`
local fence, lock, queue, shared, inbox, prefix = KEYS[1], KEYS[2], KEYS[3], KEYS[4], ARGV[3], ARGV[4]
${include(live, permits, serveQueue, handOff, prepare, restOf)}
local instance, place = ARGV[1], ARGV[2]
local owner = redis.call('GET', lock)
prepare(queue)
if owner == 'shared' then
  live(shared)
end
local wanted, turn, had, limit = string.match(place, '|%d+|(%d+)|([%l%d]+)X?(%d*)|(%d*)$')
redis.call('ZREM', queue, place)
-- After unreported grants, the rest of the turn has one of these places. Without a limit there is no rest.
for n = 1, turn and limit ~= '' and wanted - 1 or 0 do
  redis.call('ZREM', queue, rest_of(place, n))
end
if owner == 'shared' then
  for _, hold in ipairs(turn and redis.call('ZRANGE', shared, 0, -1) or {}) do
    local whole, before = string.match(hold, '^([^~]*~[%l%d]+)X?(%d*):')
    if whole == instance .. '~' .. turn and (tonumber(before) or 0) >= (tonumber(had) or 0) then
      redis.call('ZREM', shared, hold)
    end
  end
  serve_queue(lock, queue, shared, permits(shared))
elseif not owner then
  -- It was notified to acquire the free lock, and left instead.
  hand_off(lock, queue, nil, shared)
elseif not turn and string.sub(owner, 1, #instance + 1) == instance .. ':' then
  return owner
end
return false
`;
