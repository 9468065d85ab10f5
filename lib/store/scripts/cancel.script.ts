import { serveQueue, handOff, ownPlace } from './functions/hand-off.js';
import { prepare } from './functions/request.js';
import { live, ownHolds, permits } from './functions/shares.js';
import { include, luaScript } from './lua-script.js';

/**
 * Removes a waiting instance from the queue. The reply names the grants that the store keeps for the instance, which
 * returns those that it does not know.
 *
 * KEYS  1 fence counter, 2 lock, 3 queue, 4 shared holders.
 * ARGV  1 instance, 2 place in the queue, 3 `<length of the key prefix> <inbox channel prefix, or empty for no messages>`.
 *       For shared holds also 4 a token that all named ones exceed, 5 their tag.
 * Reply { owner id, … }.
 *
 * If the lock is shared or free, the script admits the waiters behind this one.
 *
 * O(n) for n holders and waiting instances.
 */
export const cancelScript = luaScript('cancel')`
local fence, lock, queue, shared = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local prefix, inbox = string.match(ARGV[3], '^(%d+) (.*)$')
${include(live, ownHolds, ownPlace, permits, serveQueue, handOff, prepare)}
local instance, place, tag = ARGV[1], ARGV[2], ARGV[5] or ''
local owner = redis.call('GET', lock)
prepare(queue)
if owner == 'shared' then
  live(shared)
end
if tag ~= '' and place ~= '' then
  place = own_place(queue, instance, tag) or ''
end
redis.call('ZREM', queue, place)
local found = {}
if owner == 'shared' then
  local own = instance .. '~' .. tag .. ':'
  for i, token in ipairs(tag ~= '' and own_holds(shared, own, tonumber(ARGV[4]), '') or {}) do
    found[i] = own .. token
  end
  serve_queue(lock, queue, shared, permits(shared))
elseif not owner then
  -- It was notified to acquire the free lock, and left instead.
  hand_off(lock, queue, nil, shared)
elseif tag == '' and string.sub(owner, 1, #instance + 1) == instance .. ':' then
  found[1] = owner
end
return found
`;
