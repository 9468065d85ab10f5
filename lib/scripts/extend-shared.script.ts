import { CLOCK, SHARE } from './fragments.js';
import { luaScript } from './lua-script.js';

/**
 * Renews the leases of many shared holds at once. Never brings back one that is gone, nor shortens a lease unasked.
 *
 * KEYS  for each: lock, shared holders
 * ARGV  for each: owner id, ttl in ms; `=` before it shortens a longer lease, too
 * Reply for each: 1 renewed, 0 there was no such hold
 *
 * O(k log n) for k holds and n holders.
 */
export const extendSharedScript = luaScript(
  'extend-shared',
  `
${CLOCK}${SHARE}
local reply = {}
for i = 1, #ARGV / 2 do
  local lock, shared, owner = KEYS[2 * i - 1], KEYS[2 * i], ARGV[2 * i - 1]
  local kept = redis.pcall('GET', lock) == 'shared' and live(shared) > 0 and redis.call('ZSCORE', shared, owner)
  reply[i] = kept and 1 or 0
  if kept then
    local exact, ttl = string.match(ARGV[2 * i], '^(=?)(%d+)$')
    local last = ends(tonumber(ttl))
    if exact == '=' or tonumber(kept) < tonumber(last) then
      redis.call('ZADD', shared, last, owner)
      cover(lock, shared)
    end
  end
end
return reply
`,
);
