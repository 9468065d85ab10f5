import { luaScript } from './lua-script.js';

/**
 * Extends leases as the extend script does, and writes each of them in any case: the WAIT that follows on the same
 * connection then speaks of a server that has these leases, and of all that was written to it before.
 *
 * KEYS  1..n locks
 * ARGV  for each lock: owner id, ttl in ms; `=` before it shortens a longer lease, too
 * Reply for each lock: 1 the owner's, 0 not the owner's
 *
 * O(n).
 */
export const replicateScript = luaScript(
  'replicate',
  `
local reply = {}
for i, lock in ipairs(KEYS) do
  local owner = ARGV[2 * i - 1]
  reply[i] = 0
  if redis.pcall('GET', lock) == owner then
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
