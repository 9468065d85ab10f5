import { HAND_OFF, MINT } from './fragments.js';
import { luaScript } from './lua-script.js';

/**
 * Takes the lock from whoever holds it, tells the holder's inbox, and goes on with the queue.
 *
 * KEYS  1 fence counter, 2 lock, 3 queue
 * ARGV  1 inbox channel prefix or '' (tell nobody), 2 length of the key prefix,
 *       3 prefix of the channel for revocations or ''
 * Reply 1 taken away, 0 nobody held it
 *
 * O(log n) for n waiting instances.
 */
export const forceReleaseScript = luaScript(
  'force-release',
  `
local fence, lock, queue, inbox, prefix = KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2]
${MINT}${HAND_OFF}
local owner = redis.call('GET', lock)
if not owner then
  return 0
end
local instance = string.match(owner, '^([^~]*)~?[^~]*:%d+$')
if instance and ARGV[3] ~= '' then
  redis.call('PUBLISH', ARGV[3] .. instance, 'revoked ' .. owner .. ' ' .. string.sub(lock, prefix + 2, -2))
end
if not hand_off(lock, queue) then
  redis.call('DEL', lock)
end
return 1
`,
);
