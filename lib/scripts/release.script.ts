import { HAND_OFF, MINT, SHARE } from './fragments.js';
import { luaScript } from './lua-script.js';

/**
 * Gives locks up: each to the head of its queue, or by deleting it where nobody waits.
 * Does nothing where the lock is not the owner's any more, so it may be sent twice.
 *
 * KEYS  1 fence counter, then for each: lock, queue, and shared holders where anybody here knows of modes
 * ARGV  1 instance, 2 inbox channel prefix or '' (tell nobody), 3 length of the key prefix, then for each: token in the owner id
 * Reply for each: 1 released, 2 released, and whoever waits for a shared hold was only told, 0 it was not the owner's
 *
 * O(k log n) for k locks with n waiting instances.
 */
export const releaseScript = luaScript(
  'release',
  `
local fence, instance, inbox, prefix = KEYS[1], ARGV[1] .. ':', ARGV[2], ARGV[3]
-- What only a lock with a queue needs is made here: others are felt to cost less by it.
local function next_in_line(lock, queue, shared)
  ${MINT}${SHARE}${HAND_OFF}
  return hand_off(lock, queue, nil, shared)
end
local reply = {}
local stride = (#KEYS - 1) / (#ARGV - 3)
for i = 1, #ARGV - 3 do
  local k = (i - 1) * stride + 2
  local lock, queue, shared = KEYS[k], KEYS[k + 1], stride == 3 and KEYS[k + 2]
  reply[i] = 0
  if redis.call('GET', lock) == instance .. ARGV[i + 3] then
    local given = redis.call('EXISTS', queue) == 1 and next_in_line(lock, queue, shared)
    if not given then
      redis.call('DEL', lock)
    end
    reply[i] = given == 'shared' and not shared and 2 or 1
  end
end
return reply
`,
);
