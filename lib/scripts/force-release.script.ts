import { HAND_OFF, MINT } from './fragments.js';
import { luaScript } from './lua-script.js';

/**
 * Takes the lock from whoever holds it, tells the holder's inbox, and goes on with the queue.
 *
 * KEYS  1 lock, 2 queue, 3 fence counter
 * ARGV  1 inbox channel prefix, 2 lock name
 * Reply 1 taken away, 0 nobody held it
 *
 * O(log n) for n waiting instances.
 */
export const forceReleaseScript = luaScript(
  'force-release',
  `${MINT}${HAND_OFF}
local owner = redis.call('GET', KEYS[1])
if not owner then
  return 0
end
local instance = string.match(owner, '^(.*):%d+$')
if instance then
  redis.call('PUBLISH', ARGV[1] .. instance, 'revoked ' .. owner .. ' ' .. ARGV[2])
end
if not hand_off(KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2]) then
  redis.call('DEL', KEYS[1])
end
return 1
`,
);
