import { ENQUEUE, HAND_OFF, MARK, MINT } from './fragments.js';
import { luaScript } from './lua-script.js';

/**
 * Grants the lock, or puts the instance into the queue. Asked twice, it gives the same answer twice.
 *
 * KEYS  1 lock, 2 queue, 3 fence counter
 * ARGV  1 instance, 2 ttl in ms, 3 tokens wanted, 4 queue member or '' (do not queue),
 *       5 highest token of a hold that this instance has ended, 6 inbox channel prefix, 7 lock name
 * Reply granted: { 1, first token, tokens }
 *       waiting: { 0, ms left of the holder's lease (-1: no expiry), owner id, mark }
 *
 * A key that this instance already owns is its own grant whose reply was lost, and is granted again as it is;
 * unless its hold has ended here and only the release went missing: then it counts as free.
 * A free lock with a queue goes to the head of the queue, whoever asks.
 *
 * O(log n) for n waiting instances; O(1) for a free name.
 */
export const acquireScript = luaScript(
  'acquire',
  `${MINT}${MARK}${HAND_OFF}${ENQUEUE}
local lock, queue, fence = KEYS[1], KEYS[2], KEYS[3]
local instance, ttl, member = ARGV[1], ARGV[2], ARGV[4]
local function grant()
  local token, n = mint(fence, tonumber(ARGV[3]))
  redis.call('SET', lock, instance .. ':' .. digits(token), 'PX', ttl)
  return { 1, token, n }
end
if redis.call('EXISTS', lock, queue) == 0 then
  return grant()
end
local owner = redis.call('GET', lock)
if owner and string.sub(owner, 1, #instance + 1) == instance .. ':' then
  local token = tonumber(string.sub(owner, #instance + 2))
  if token and token > tonumber(ARGV[5]) then
    if redis.call('PTTL', lock) < tonumber(ttl) then
      redis.call('PEXPIRE', lock, ttl)
    end
    redis.call('ZREM', queue, member)
    return { 1, token, 1 }
  end
  redis.call('DEL', lock)
  owner = nil
end
if member ~= '' then
  enqueue(queue, member)
end
if not owner then
  owner = hand_off(lock, queue, fence, ARGV[6], ARGV[7], member)
  if not owner or owner == member then
    return grant()
  end
end
return { 0, redis.call('PTTL', lock), owner, mark(fence) }
`,
);
