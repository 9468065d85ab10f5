import { luaScript } from './lua-script.js';

/**
 * Takes a waiting instance out of the queue. Tells the owner id where the lock had been handed to the
 * instance just before, so that it can be released.
 *
 * KEYS  1 lock, 2 queue
 * ARGV  1 instance, 2 queue member
 * Reply the owner id of a grant to this instance, or false
 *
 * O(log n) for n waiting instances.
 */
export const cancelScript = luaScript(
  'cancel',
  `
redis.call('ZREM', KEYS[2], ARGV[2])
local owner = redis.call('GET', KEYS[1])
if owner and string.sub(owner, 1, #ARGV[1] + 1) == ARGV[1] .. ':' then
  return owner
end
return false
`,
);
