import { HAND_OFF, MINT } from './fragments.js';
import { luaScript } from './lua-script.js';

/**
 * Gives locks up: each to the head of its queue, or by deleting it where nobody waits.
 * Does nothing where the lock is not the owner's any more, so it may be sent twice.
 *
 * KEYS  1 fence counter, then for each: lock, queue
 * ARGV  1 instance, 2 inbox channel prefix or '' (tell nobody), 3 length of the key prefix, then for each: token in the owner id
 * Reply for each: 1 released, 0 it was not the owner's
 *
 * O(k log n) for k locks with n waiting instances.
 */
export const releaseScript = luaScript(
  'release',
  `
local fence, instance, inbox, prefix = KEYS[1], ARGV[1] .. ':', ARGV[2], ARGV[3]
${MINT}${HAND_OFF}
local reply = {}
for i = 1, (#KEYS - 1) / 2 do
  local lock, queue = KEYS[2 * i], KEYS[2 * i + 1]
  reply[i] = 0
  if redis.call('GET', lock) == instance .. ARGV[i + 3] then
    if not hand_off(lock, queue) then
      redis.call('DEL', lock)
    end
    reply[i] = 1
  end
end
return reply
`,
);
