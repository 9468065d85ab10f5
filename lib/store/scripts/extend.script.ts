import { attempt, check } from './functions/request.js';
import { cover } from './functions/shares.js';
import { clock, ends } from './functions/time.js';
import { include, luaScript } from './lua-script.js';

/**
 * Renews many leases at once, of locks and of shared holds. Never revives an ended lease, and shortens a lease only on
 * request: a request from an abandoned connection may arrive after a later and longer one. Expired shared holds are
 * left for a script that continues with the queue. Leases are also renewed while Redis is full.
 *
 * KEYS  for each: lock, shared holders.
 * ARGV  for each: owner id, ttl in ms; `=` before it also shortens a longer lease. Then nothing, or `write` to write each
 *       lease in any case: then a WAIT that follows on the same connection covers these leases
 *       and everything written before.
 * Reply for each: 1 renewed, 0 not the owner's, or the ms for which the lease lasts if that is longer already.
 *
 * O(k log n) for k leases with n shared holders, O(k) without.
 */
export const extendScript = luaScript('extend')`
${include(check, clock, ends, cover, attempt)}
local writes_all = ARGV[#KEYS + 1] == 'write'
local function extend(lock, shared, owner, lease)
  local kept = redis.call('GET', lock)
  local exact, ttl = string.match(lease, '^(=?)(%d+)$')
  if kept == 'shared' then
    check()
    local time, last = math.floor(clock() / 1000), tonumber(redis.call('ZSCORE', shared, owner) or '0')
    if last <= time then
      return 0
    end
    local is_longer = exact == '' and math.floor(last) > time + ttl
    -- A full Redis rejects commands that take memory, but accepts them once a script has written.
    redis.call('ZREM', shared, '')
    if not is_longer then
      redis.call('ZADD', shared, ends(ttl), owner)
    end
    if writes_all or not is_longer then
      cover(lock, shared)
    end
    return is_longer and math.floor(last) - time or 1
  elseif kept ~= owner then
    return 0
  end
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
