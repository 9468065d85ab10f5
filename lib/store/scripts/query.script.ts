import { attempt } from './functions/request.js';
import { unexpired } from './functions/shares.js';
import { clock } from './functions/time.js';
import { include } from './functions/lua-function.js';
import { luaScript } from './lua-script.js';

/**
 * Returns the holders and the waiting instances, in order, of each of several locks.
 *
 * KEYS  for each: lock, queue, shared holders
 * Reply for each { server time in microseconds, owner id, `shared` or false, ms left of its lease,
 *       { place, score, … } of the queue, { owner id, end of its lease in ms since 1970, … } of shared holds },
 *       or an error if its keys have other types
 *
 * O(n) for n holders and waiting instances.
 */
export const queryScript = luaScript('query')`
${include(attempt, clock, unexpired)}
local function query(lock, queue, shared)
  local owner = redis.call('GET', lock)
  local holders = {}
  if owner == 'shared' then
    holders = unexpired(shared, 'WITHSCORES')
  end
  return {
    clock(),
    owner, redis.call('PTTL', lock),
    redis.call('ZRANGE', queue, 0, -1, 'WITHSCORES'),
    holders,
  }
end
local reply = {}
for i = 1, #KEYS / 3 do
  reply[i] = attempt(query, KEYS[3 * i - 2], KEYS[3 * i - 1], KEYS[3 * i])
end
return reply
`;
