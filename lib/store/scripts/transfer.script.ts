import { check } from './functions/request.js';
import { cover, live } from './functions/shares.js';
import { ends } from './functions/time.js';
import { include } from './functions/lua-function.js';
import { luaScript } from './lua-script.js';

/**
 * Gives a lock, or a shared hold, from one owner id to another, with a new lease, where it still is the first one's: away
 * from an instance by which it is detached, and to the one that attaches it. Asked twice, it gives the same answer twice.
 *
 * KEYS  1 lock, 2 shared holders
 * ARGV  1 owner id that gives, 2 owner id that takes, 3 ttl in ms
 * Reply 1 it is the second one's, 0 it was neither's
 *
 * Of several that want to take it one finds the owner id that gives, and each has an owner id of its own for each try,
 * so that a request which arrives late takes nothing from anybody. The token in the owner id stays, and the queue waits on.
 * Asked again it leaves the lease alone: by then that may have been shortened.
 *
 * O(log n) for n shared holders, O(1) without.
 */
export const transferScript = luaScript('transfer')`
local lock, shared = KEYS[1], KEYS[2]
${include(check, live, cover, ends)}
local owner = redis.call('GET', lock)
if owner == ARGV[1] then
  redis.call('SET', lock, ARGV[2], 'PX', ARGV[3])
  return 1
elseif owner ~= 'shared' then
  return owner == ARGV[2] and 1 or 0
end
check()
if live(shared) == 0 then
  return 0
end
if redis.call('ZREM', shared, ARGV[1]) == 1 then
  redis.call('ZADD', shared, ends(tonumber(ARGV[3])), ARGV[2])
  cover(lock, shared)
  return 1
end
return redis.call('ZSCORE', shared, ARGV[2]) and 1 or 0
`;
