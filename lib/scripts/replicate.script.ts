import { CLOCK, RENEW_SHARE, SHARE } from './fragments.js';
import { luaScript } from './lua-script.js';

/**
 * Extends leases as the extend scripts do, and writes each of them in any case: the WAIT that follows on the same
 * connection then speaks of a server that has these leases, and of all that was written to it before.
 *
 * KEYS  for each lock: lock, shared holders
 * ARGV  for each: owner id, ttl in ms; `=` before it shortens a longer lease, too
 * Reply for each: 1 the owner's, 0 not the owner's
 *
 * O(k log n) for k locks with n shared holders.
 */
export const replicateScript = luaScript(
  'replicate',
  `
${CLOCK}${SHARE}${RENEW_SHARE}
local reply = {}
for i = 1, #ARGV / 2 do
  local lock, owner = KEYS[2 * i - 1], ARGV[2 * i - 1]
  local kept = redis.pcall('GET', lock)
  reply[i] = 0
  if kept == 'shared' then
    if renew_share(KEYS[2 * i], owner, ARGV[2 * i]) then
      cover(lock, KEYS[2 * i])
      reply[i] = 1
    end
  elseif kept == owner then
    local exact, ttl = string.match(ARGV[2 * i], '^(=?)(%d+)$')
    if exact == '=' or redis.call('PTTL', lock) < tonumber(ttl) then
      redis.call('PEXPIRE', lock, ttl)
    else
      redis.call('SET', lock, owner, 'KEEPTTL')
    end
    reply[i] = 1
  end
end
return reply
`,
);
