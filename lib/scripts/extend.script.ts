import { luaScript } from './lua-script.js';

/**
 * Renews the leases of many locks at once. Never brings back a lock that is gone, nor shortens a lease unasked:
 * a request from a connection that was given up may arrive after a longer one that came later.
 *
 * KEYS  1..n locks
 * ARGV  for each lock: owner id, ttl in ms; `=` before it shortens a longer lease, too
 * Reply for each lock: 1 renewed, 0 it was not the owner's
 *
 * O(n).
 */
export const extendScript = luaScript(
  'extend',
  `
local reply = {}
for i, lock in ipairs(KEYS) do
  -- A key that somebody overwrote with another type is one lock lost, not an error for all of the batch.
  if redis.pcall('GET', lock) == ARGV[2 * i - 1] then
    local exact, ttl = string.match(ARGV[2 * i], '^(=?)(%d+)$')
    if exact == '=' or redis.call('PTTL', lock) < tonumber(ttl) then
      redis.call('PEXPIRE', lock, ttl)
    end
    reply[i] = 1
  else
    reply[i] = 0
  end
end
return reply
`,
);
