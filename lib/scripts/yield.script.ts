import { ENQUEUE, HAND_OFF, MARK, MINT } from './fragments.js';
import { luaScript } from './lua-script.js';

/**
 * The end of an instance's turn while more of its own callers wait: hands the lock to another waiting
 * instance and queues this one again, or, where nobody else waits, lets it keep the lock.
 *
 * KEYS  1 lock, 2 queue, 3 fence counter
 * ARGV  1 owner id, 2 ttl in ms, 3 tokens wanted, 4 queue member or '' (do not queue),
 *       5 inbox channel prefix, 6 lock name
 * Reply kept:   { 1, first token, tokens }, from then on under the owner id of that token
 *       handed: { 0, ms left of the new holder's lease, its owner id, mark }
 *       gone:   { -1 } the lock was not the owner's any more
 *
 * The owner id changes so that this request does nothing when it arrives twice, the second time from a
 * connection that was given up long ago: by then another hold may use the lock.
 *
 * O(log n) for n waiting instances.
 */
export const yieldScript = luaScript(
  'yield',
  `${MINT}${MARK}${HAND_OFF}${ENQUEUE}
local lock, queue, fence = KEYS[1], KEYS[2], KEYS[3]
if redis.call('GET', lock) ~= ARGV[1] then
  return { -1 }
end
local owner = hand_off(lock, queue, fence, ARGV[5], ARGV[6])
if not owner then
  local token, n = mint(fence, tonumber(ARGV[3]))
  redis.call('SET', lock, string.match(ARGV[1], '^(.*:)%d+$') .. digits(token), 'PX', ARGV[2])
  return { 1, token, n }
end
if ARGV[4] ~= '' then
  enqueue(queue, ARGV[4])
end
return { 0, redis.call('PTTL', lock), owner, mark(fence) }
`,
);
