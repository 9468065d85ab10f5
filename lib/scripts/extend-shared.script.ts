import { CLOCK, RENEW_SHARE, SHARE } from './fragments.js';
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
${CLOCK}${SHARE}${RENEW_SHARE}
local reply = {}
for i = 1, #ARGV / 2 do
  local lock, shared = KEYS[2 * i - 1], KEYS[2 * i]
  reply[i] = 0
  if redis.pcall('GET', lock) == 'shared' then
    local kept, changed = renew_share(shared, ARGV[2 * i - 1], ARGV[2 * i])
    if changed then
      cover(lock, shared)
    end
    reply[i] = kept and 1 or 0
  end
end
return reply
`,
);
