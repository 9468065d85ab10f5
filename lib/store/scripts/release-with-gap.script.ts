import { enqueue, notify } from './functions/hand-off.js';
import { prepare } from './functions/request.js';
import { include } from './functions/lua-function.js';
import { luaScript } from './lua-script.js';

/**
 * Releases a lock without a hand-off, so that a client of another package that polls can acquire it. Notifies the first
 * live instance in the queue, which asks after the gap. Does nothing if the owner no longer has the lock, so it may be
 * sent twice.
 *
 * KEYS  1 fence counter, 2 lock, 3 queue
 * ARGV  1 owner id, 2 inbox channel prefix or '' (no messages), 3 length of the key prefix, 4 place of the releasing
 *       instance or '' (do not queue), 5 `<length of the gap in ms> <ms for which further gaps follow>`
 * Reply 1 released, 0 not the owner's
 *
 * O(log n) for n waiting instances.
 */
export const releaseWithGapScript = luaScript('release-with-gap')`
local fence, lock, queue, inbox, prefix = KEYS[1], KEYS[2], KEYS[3], ARGV[2], ARGV[3]
${include(notify, enqueue, prepare)}
if redis.call('GET', lock) ~= ARGV[1] then
  return 0
end
prepare(queue)
local waiting = redis.call('ZRANGE', queue, 0, 9)
redis.call('DEL', lock)
if ARGV[4] ~= '' then
  enqueue(queue, ARGV[4])
end
local message = 'gap ' .. ARGV[5] .. ' ' .. string.sub(lock, prefix + 2, -2)
for _, place in ipairs(waiting) do
  if notify(string.match(place, '^[^|]*'), message) then
    break
  end
end
return 1
`;
