import { check } from './check.js';
import { clock } from './clock.js';
import { ends } from './ends.js';
import { luaFunction } from './lua-function.js';

/**
 * `renew_share(shared, owner, lease)`: renews a shared hold's lease as the extend script is asked to, and returns what that replies,
 * and whether the lease has changed. A longer one is shortened only with `=` before the ttl.
 *
 * Those whose leases have run out are left for a script that goes on with the queue. Leases are renewed while Redis is full.
 */
export const renewShare = luaFunction(check, clock, ends)`
local function renew_share(shared, owner, lease)
  check()
  local kept = tonumber(redis.call('ZSCORE', shared, owner) or '0')
  if kept <= math.floor(clock() / 1000) then
    return 0, false
  end
  local exact, ttl = string.match(lease, '^(=?)(%d+)$')
  local last = ends(tonumber(ttl))
  local changes = exact == '=' or math.floor(kept) <= tonumber(last)
  -- A full Redis refuses what takes memory, and even that no more once a script has written.
  redis.call('ZREM', shared, '')
  if changes then
    redis.call('ZADD', shared, last, owner)
  end
  return changes and 1 or math.floor(kept) - math.floor(clock() / 1000), changes
end
`;
