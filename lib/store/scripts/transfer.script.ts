import { check } from './functions/request.js';
import { cover, isLive } from './functions/shares.js';
import { ends } from './functions/time.js';
import { include, luaScript } from './lua-script.js';

/**
 * Moves locks, or shared holds, from one owner id each to another with a new lease, if all of them are there; otherwise
 * changes nothing. Both detach and attach use it. A repeated request receives the same reply.
 *
 * KEYS  for each name: lock, shared holders.
 * ARGV  for each name: owner id that has it, owner id that receives it, ttl in ms.
 * Reply 1 the second owner ids have all, 0 another taker may have them, 2 they can never be moved any more: one of them is
 *       gone.
 *
 * Of several takers, one finds the giving owner ids. Each attempt has its own taking owner ids, so that a late request
 * takes nothing from another owner. An exclusive owner id keeps its token, so another taker of a lock is told from its
 * next holder. The queues continue to wait. A repeated request leaves the leases unchanged, because they may have been
 * shortened since.
 *
 * O(k log n) for k names with n shared holders, O(k) without.
 */
export const transferScript = luaScript('transfer')`
${include(check, isLive, cover, ends)}
local moves, is_moved, is_missing = {}, false, false
for i = 1, #KEYS, 2 do
  local lock, shared, at = KEYS[i], KEYS[i + 1], (3 * i - 1) / 2
  local from, to, ttl = unpack(ARGV, at, at + 2)
  local owner = redis.call('GET', lock)
  local is_shared = owner == 'shared'
  if is_shared then
    check()
  end
  local function has(id)
    return owner == id or is_shared and is_live(shared, id)
  end
  if has(from) then
    moves[#moves + 1] = { lock, shared, is_shared, from, to, ttl }
  elseif has(to) then
    is_moved = true
  else
    is_missing = true
  end
end
if is_missing then
  local token = not string.find(ARGV[1], '~s[^~:]*:%d+$') and string.match(ARGV[1], ':%d+$')
  local owner = token and redis.call('GET', KEYS[1])
  local is_taken = not token or owner and string.sub(owner, -#token) == token
  return (is_moved or #moves > 0 or not is_taken) and 2 or 0
end
for _, move in ipairs(moves) do
  local lock, shared, is_shared, from, to, ttl = unpack(move)
  if is_shared then
    redis.call('ZREM', shared, from)
    redis.call('ZADD', shared, ends(tonumber(ttl)), to)
    cover(lock, shared)
  else
    redis.call('SET', lock, to, 'PX', ttl)
  end
end
return 1
`;
