import { check } from './functions/request.js';
import { cover, isLive } from './functions/shares.js';
import { ends } from './functions/time.js';
import { include } from './functions/lua-function.js';
import { luaScript } from './lua-script.js';

/**
 * Moves a lock, or a shared hold, from one owner id to another with a new lease, if the first one still has it. Both
 * detach and attach use it. A repeated request receives the same reply.
 *
 * KEYS  1 lock, 2 shared holders
 * ARGV  1 owner id that has it, 2 owner id that receives it, 3 ttl in ms
 * Reply 1 the second owner has it, 0 neither owner had it
 *
 * Of several takers, one finds the giving owner id. Each attempt has its own taking owner id, so that a late request
 * takes nothing from another owner. The token in the owner id stays, and the queue continues to wait. A repeated
 * request leaves the lease unchanged, because it may have been shortened since.
 *
 * O(log n) for n shared holders, O(1) without.
 */
export const transferScript = luaScript('transfer')`
local lock, shared = KEYS[1], KEYS[2]
${include(check, isLive, cover, ends)}
local owner = redis.call('GET', lock)
if owner == ARGV[1] then
  redis.call('SET', lock, ARGV[2], 'PX', ARGV[3])
  return 1
elseif owner ~= 'shared' then
  return owner == ARGV[2] and 1 or 0
end
check()
if is_live(shared, ARGV[1]) then
  redis.call('ZREM', shared, ARGV[1])
  redis.call('ZADD', shared, ends(tonumber(ARGV[3])), ARGV[2])
  cover(lock, shared)
  return 1
end
return is_live(shared, ARGV[2]) and 1 or 0
`;
