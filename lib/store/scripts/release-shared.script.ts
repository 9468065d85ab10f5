import { serveQueue } from './functions/hand-off.js';
import { attempt, prepare } from './functions/request.js';
import { live, permits } from './functions/shares.js';
import { include, luaScript } from './lua-script.js';

/**
 * Releases shared holds, and hands the freed holds to the next waiters in the queue. Ignores holds that no longer
 * exist, so it may be sent twice. Holds of one lock that are released in one call are handed over together, by one
 * message to each instance.
 *
 * KEYS  1 fence counter, then for each: lock, queue, shared holders.
 * ARGV  1 `<length of the key prefix> <inbox channel prefix, or empty for no messages>`, then for each: owner id.
 * Reply for each: 1 released, 0 the hold did not exist.
 *
 * O(k log n) for k locks with n holders and waiting instances.
 */
export const releaseSharedScript = luaScript('release-shared')`
local fence = KEYS[1]
local prefix, inbox = string.match(ARGV[1], '^(%d+) (.*)$')
${include(live, permits, serveQueue, attempt, prepare)}
local reply, is_shared = {}, {}
local function release(lock, queue, shared, owner)
  if is_shared[lock] == nil then
    local found = redis.call('GET', lock) == 'shared'
    if found then
      prepare(queue)
      live(shared)
    end
    is_shared[lock] = found
  end
  return is_shared[lock] and redis.call('ZREM', shared, owner) or 0
end
for i = 1, #ARGV - 1 do
  reply[i] = attempt(release, KEYS[3 * i - 1], KEYS[3 * i], KEYS[3 * i + 1], ARGV[i + 1])
end
for i = 1, #ARGV - 1 do
  local lock, queue, shared = KEYS[3 * i - 1], KEYS[3 * i], KEYS[3 * i + 1]
  if is_shared[lock] then
    is_shared[lock] = false
    serve_queue(lock, queue, shared, permits(shared))
  end
end
return reply
`;
