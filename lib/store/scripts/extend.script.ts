import { attempt } from './functions/attempt.js';
import { cover } from './functions/cover.js';
import { include } from './functions/lua-function.js';
import { renewShare } from './functions/renew-share.js';
import { luaScript } from './lua-script.js';

/**
 * Renews many leases at once, of locks and of shared holds. Never brings back one that is gone, nor shortens a lease
 * unasked: a request from a connection that was given up may arrive after a longer one that came later.
 *
 * KEYS  for each: lock, shared holders
 * ARGV  for each: owner id, ttl in ms; `=` before it shortens a longer lease, too. Then `write`, or nothing, where each
 *       lease has to be written in any case: the WAIT that follows on the same connection then speaks of a server
 *       that has these leases, and of all that was written to it before
 * Reply for each: 1 renewed, 0 it was not the owner's, or the ms for which it lasts where that is longer already
 *
 * O(k log n) for k leases with n shared holders, O(k) without.
 */
export const extendScript = luaScript('extend')`
${include(cover, renewShare, attempt)}
local writes_all = ARGV[#KEYS + 1] == 'write'
local function extend(lock, shared, owner, lease)
  local kept = redis.call('GET', lock)
  if kept == 'shared' then
    local extended, changed = renew_share(shared, owner, lease)
    if changed or writes_all and extended > 0 then
      cover(lock, shared)
    end
    return extended
  elseif kept ~= owner then
    return 0
  end
  local exact, ttl = string.match(lease, '^(=?)(%d+)$')
  local left = redis.call('PTTL', lock)
  local is_longer = exact == '' and left >= tonumber(ttl)
  if writes_all or not is_longer then
    redis.call('PEXPIRE', lock, is_longer and left or ttl)
  end
  return is_longer and left or 1
end
local reply = {}
for i = 1, #KEYS, 2 do
  reply[#reply + 1] = attempt(extend, KEYS[i], KEYS[i + 1], ARGV[i], ARGV[i + 1])
end
return reply
`;
