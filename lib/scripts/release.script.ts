import { HAND_OFF, MINT } from './fragments.js';
import { luaScript } from './lua-script.js';

/**
 * Gives the lock up: to the head of the queue, or by deleting it where nobody waits.
 * Does nothing when the lock is not the owner's any more, so it may be sent twice.
 *
 * KEYS  1 lock, 2 queue, 3 fence counter
 * ARGV  1 owner id, 2 inbox channel prefix, 3 lock name
 * Reply 1 released, 0 it was not the owner's
 *
 * O(log n) for n waiting instances.
 */
export const releaseScript = luaScript(
  'release',
  `${MINT}${HAND_OFF}
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
if not hand_off(KEYS[1], KEYS[2], KEYS[3], ARGV[2], ARGV[3]) then
  redis.call('DEL', KEYS[1])
end
return 1
`,
);
