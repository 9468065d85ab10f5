import { serveQueue } from './functions/hand-off.js';
import { attempt, prepare } from './functions/request.js';
import { live, permits } from './functions/shares.js';
import { include, luaScript } from './lua-script.js';

/**
 * Releases holds by their whole owner ids: shared ones, and exclusive ones that were detached or attached. Hands the
 * freed holds to the next waiters in the queue. Ignores holds that no longer exist, so it may be sent twice. Shared holds
 * of one lock that are released in one call are handed over together, by one message to each instance.
 *
 * KEYS  1 fence counter, then for each: lock, queue, shared holders.
 * ARGV  1 `<length of the key prefix> <inbox channel prefix, or empty for no messages>`, then for each: owner id.
 * Reply for each: 1 released, 0 the hold did not exist.
 *
 * O(k log n) for k locks with n holders and waiting instances.
 */
export const releaseByOwnerScript = luaScript('release-by-owner')`
local fence = KEYS[1]
local prefix, inbox = string.match(ARGV[1], '^(%d+) (.*)$')
${include(live, permits, serveQueue, attempt, prepare)}
local reply, is_shared = {}, {}
local function release(lock, queue, shared, owner)
  if not is_shared[lock] then
    local kept = redis.call('GET', lock)
    if kept ~= 'shared' and kept ~= owner then
      return 0
    end
    prepare(queue)
    if kept == owner then
      serve_queue(lock, queue, shared, 0)
      return 1
    end
    live(shared)
    is_shared[lock] = true
  end
  return redis.call('ZREM', shared, owner)
end
for i = 1, #ARGV - 1 do
  reply[i] = attempt(release, KEYS[3 * i - 1], KEYS[3 * i], KEYS[3 * i + 1], ARGV[i + 1])
end
for i = 1, #ARGV - 1 do
  local lock, queue, shared = KEYS[3 * i - 1], KEYS[3 * i], KEYS[3 * i + 1]
  if is_shared[lock] then
    is_shared[lock] = nil
    serve_queue(lock, queue, shared, permits(shared))
  end
end
return reply
`;
