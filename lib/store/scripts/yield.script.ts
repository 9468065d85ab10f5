import { enqueue, handOff, notify } from './functions/hand-off.js';
import { prepare } from './functions/request.js';
import { mint, tokenFloor } from './functions/tokens.js';
import { include, luaScript } from './lua-script.js';

/**
 * Ends an instance's turn while it has more callers: hands the lock to another waiting instance and queues this one
 * again. If no other instance waits, this one keeps the lock.
 *
 * With a gap, it hands the lock to no instance, so that a client of another package that polls can acquire it. It
 * notifies the first live instance in the queue, which asks after the gap.
 *
 * KEYS  1 fence counter, 2 lock, 3 queue, and 4 shared holders if this instance has met shared mode.
 * ARGV  1 owner id, 2 `<length of the key prefix> <inbox channel prefix, or empty for no messages>`,
 *       3 place or '' (do not queue), 4 ttl in ms, 5 tokens wanted.
 *       For a gap, 4 `gap`, 5 `<length of the gap in ms> <ms for which further gaps follow>`.
 * Reply kept:   { first token, tokens }, from then on under the owner id of that token.
 *       handed: { ms left of the new holder's lease, its owner id, token floor }.
 *       gap:    1.
 *       gone:   false; the owner no longer had the lock.
 *
 * The owner id changes, so that a repeated request from a connection that was abandoned long ago does nothing: by then,
 * another hold may use the lock.
 *
 * O(log n) for n waiting instances.
 */
export const yieldScript = luaScript('yield')`
local fence, lock, queue, shared = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local prefix, inbox = string.match(ARGV[2], '^(%d+) (.*)$')
${include(mint, tokenFloor, handOff, enqueue, notify, prepare)}
local place, ttl = ARGV[3], ARGV[4]
if redis.call('GET', lock) ~= ARGV[1] then
  return false
end
prepare(queue)
local owner, waiting
if ttl == 'gap' then
  waiting = redis.call('ZRANGE', queue, 0, 9)
  redis.call('DEL', lock)
else
  owner = hand_off(lock, queue, nil, shared)
  if not owner then
    local token, n, text = mint(tonumber(ARGV[5]))
    redis.call('SET', lock, string.match(ARGV[1], '^(.*:)%d+$') .. text, 'PX', ttl)
    return { token, n }
  end
end
if place ~= '' then
  enqueue(queue, place)
end
if owner then
  return { redis.call('PTTL', lock), owner, token_floor() }
end
local message = 'gap ' .. ARGV[5] .. ' ' .. string.sub(lock, prefix + 2, -2)
for _, each in ipairs(waiting) do
  if notify(string.match(each, '^[^|]*'), message) then
    break
  end
end
return 1
`;
