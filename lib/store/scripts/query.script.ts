import { attempt } from './functions/request.js';
import { unexpired } from './functions/shares.js';
import { clock } from './functions/time.js';
import { include, luaScript } from './lua-script.js';

/**
 * Returns the holders and the waiting instances, in order, of each of several locks.
 *
 * KEYS  for each: lock, queue, shared holders, and the mark if requested.
 * ARGV  1 `marks` if the marks are requested.
 * Reply for each { server time in microseconds, owner id, `shared` or false, ms left of its lease, queue, holders, mark },
 *       or an error if its keys have other types. The queue is { place, score, … }. The holders of shared holds are
 *       { owner id, end of its lease in ms since 1970, … }. The mark, if requested, is { its time in ms since 1970, ms left }
 *       or false.
 *
 * O(n) for n holders and waiting instances.
 */
export const queryScript = luaScript('query')`
${include(attempt, clock, unexpired)}
local stride = ARGV[1] and 4 or 3
local function query(lock, queue, shared, done)
  local owner = redis.call('GET', lock)
  local holders = {}
  if owner == 'shared' then
    holders = unexpired(shared, 'WITHSCORES')
  end
  local mark
  if done then
    -- The result is not part of the reply.
    local at = string.match(redis.call('GET', done) or '', '^%d+')
    mark = at and { tonumber(at), redis.call('PTTL', done) } or false
  end
  return {
    clock(),
    owner, redis.call('PTTL', lock),
    redis.call('ZRANGE', queue, 0, -1, 'WITHSCORES'),
    holders,
    mark,
  }
end
local reply = {}
for i = 1, #KEYS / stride do
  reply[i] = attempt(query, unpack(KEYS, stride * (i - 1) + 1, stride * i))
end
return reply
`;
