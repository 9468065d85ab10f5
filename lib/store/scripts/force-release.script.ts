import { serveQueue } from './functions/hand-off.js';
import { prepare } from './functions/request.js';
import { holders, live } from './functions/shares.js';
import { include, luaScript } from './lua-script.js';

/**
 * Ends holds that may belong to any instance, notifies their inboxes, and continues with the queue.
 *
 * KEYS  1 fence counter, 2 lock, 3 queue, 4 shared holders.
 * ARGV  1 `<length of the key prefix> <inbox channel prefix, or empty for no messages>`,
 *       2 prefix of the channel for revocations or ''.
 *       Then `only` and the owner ids of the holds to end, or nothing to end every hold.
 * Reply { owner ids of the holds that ended, owner ids that hold the lock now }.
 *
 * O(n) for n holders and waiting instances.
 */
export const forceReleaseScript = luaScript('force-release')`
local fence, lock, queue, shared = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local prefix, inbox = string.match(ARGV[1], '^(%d+) (.*)$')
${include(live, serveQueue, holders, prepare)}
local owner = redis.call('GET', lock)
if not owner then
  return { {}, {} }
end
prepare(queue)
local named, ended = {}, {}
for i = 4, #ARGV do
  named[ARGV[i]] = true
end
for _, each in ipairs(holders(lock, shared)) do
  if ARGV[3] ~= 'only' or named[each] then
    ended[#ended + 1] = each
    local instance = string.match(each, '^([^~]*)~?[^~]*:%d+$')
    if instance and ARGV[2] ~= '' then
      redis.pcall('PUBLISH', ARGV[2] .. instance, 'revoked ' .. each .. ' ' .. string.sub(lock, prefix + 2, -2))
    end
    if owner == 'shared' then
      redis.call('ZREM', shared, each)
    end
  end
end
if #ended > 0 then
  serve_queue(lock, queue, shared, owner == 'shared' and live(shared) or 0)
end
return { ended, holders(lock, shared) }
`;
