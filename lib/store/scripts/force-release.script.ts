import { handOff } from './functions/hand-off.js';
import { prepare } from './functions/request.js';
import { include } from './functions/lua-function.js';
import { luaScript } from './lua-script.js';

/**
 * Takes the lock from whoever holds it, alone or together, tells the holders' inboxes, and goes on with the queue.
 *
 * KEYS  1 fence counter, 2 lock, 3 queue, 4 shared holders
 * ARGV  1 inbox channel prefix or '' (tell nobody), 2 length of the key prefix,
 *       3 prefix of the channel for revocations or '', then `tell`, or nothing, to be told the owner ids
 * Reply 1 taken away, or the owner ids that it was taken from, 0 nobody held it
 *
 * O(n) for n instances that hold it or wait.
 */
export const forceReleaseScript = luaScript('force-release')`
local fence, lock, queue, shared, inbox, prefix = KEYS[1], KEYS[2], KEYS[3], KEYS[4], ARGV[1], ARGV[2]
${include(handOff, prepare)}
local owner = redis.call('GET', lock)
if not owner then
  return 0
end
prepare(queue)
local owners = owner == 'shared' and redis.call('ZRANGE', shared, 0, -1) or { owner }
for _, each in ipairs(owners) do
  local instance = string.match(each, '^([^~]*)~?[^~]*:%d+$')
  if instance and ARGV[3] ~= '' then
    redis.pcall('PUBLISH', ARGV[3] .. instance, 'revoked ' .. each .. ' ' .. string.sub(lock, prefix + 2, -2))
  end
end
redis.call('DEL', shared)
if not hand_off(lock, queue, nil, shared) then
  redis.call('DEL', lock)
end
return ARGV[4] and owners or 1
`;
