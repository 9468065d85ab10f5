import { RESERVE } from './quorum-fragments.js';
import { luaScript } from './lua-script.js';

/**
 * Takes the lock on one node from whoever holds it, tells the holder's inbox, and goes on with the queue.
 *
 * KEYS  1 lock, 2 queue, 3 fence of this name
 * ARGV  1 inbox channel prefix, 2 ms of a reservation, 3 lock name
 * Reply the owner id that it was taken from, or false
 *
 * O(log n) for n waiting instances.
 */
export const quorumForceReleaseScript = luaScript(
  'quorum-force-release',
  `${RESERVE}
local owner = redis.call('GET', KEYS[1])
if not owner then
  return false
end
local instance = string.match(owner, '^(.*):%d+$')
if instance then
  redis.call('PUBLISH', ARGV[1] .. instance, 'revoked ' .. owner .. ' ' .. ARGV[3])
end
redis.call('DEL', KEYS[1])
reserve(KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2], ARGV[3])
return owner
`,
);
