import { luaScript } from './lua-script.js';

/**
 * Gives a lock from one owner id to another, with a new lease, where it still is the first one's: away from an
 * instance by which it is detached, and to the one that attaches it. Asked twice, it gives the same answer twice.
 *
 * KEYS  1 lock
 * ARGV  1 owner id that gives, 2 owner id that takes, 3 ttl in ms
 * Reply 1 it is the second one's, 0 it was neither's
 *
 * Of several that want to take it one finds the owner id that gives, and each has an owner id of its own for each try,
 * so that a request which arrives late takes nothing from anybody. The token in the owner id stays, and the queue waits on.
 * Asked again it leaves the lease alone: by then that may have been shortened.
 *
 * O(1).
 */
export const handOverScript = luaScript(
  'hand-over',
  `
local owner = redis.call('GET', KEYS[1])
if owner == ARGV[1] then
  redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
  return 1
end
return owner == ARGV[2] and 1 or 0
`,
);
