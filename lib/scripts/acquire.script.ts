import { ENQUEUE, HAND_OFF, MARK, MINT, SHARE } from './fragments.js';
import { luaScript } from './lua-script.js';

/**
 * For each of several locks, grants it or puts the instance into its queue. Asked twice, it gives the same answer
 * twice. Requests of one tick share a call, since most of what a request costs is that of the call.
 *
 * KEYS  1 fence counter, then for each: lock, queue, and shared holders where anybody here knows of modes
 * ARGV  1 instance, 2 highest token of a hold that this instance has ended, 3 inbox channel prefix or '' (tell nobody),
 *       4 length of the key prefix, then for each its terms: `<ttl in ms> <tokens wanted> <rest of the queue member>`,
 *       without a rest to ask without queueing
 * Reply for each granted: first token, or { first token, tokens } where there are fewer than wanted
 *                waiting: { ms left of the holder's lease (negative: no expiry), owner id or `shared`, mark }
 *
 * A key that this instance already owns is its own grant whose reply was lost, and is granted again as it is;
 * unless its hold has ended here and only the release went missing: then it counts as free.
 * A free lock with a queue goes to the head of the queue, whoever asks.
 *
 * O(k log n) for k locks with n waiting instances; O(k) for free names.
 */
export const acquireScript = luaScript(
  'acquire',
  `
local fence, instance, spent, inbox, prefix = KEYS[1], ARGV[1] .. ':', tonumber(ARGV[2]), ARGV[3], ARGV[4]
${MINT}
-- What only a taken lock needs is made here: free ones are felt to cost less by it.
local function queue_up(lock, queue, shared, ttl, member)
  ${MARK}${SHARE}${HAND_OFF}${ENQUEUE}
  local function own_grant(lock, queue, ttl, member, owner)
    local token = tonumber(string.sub(owner, #instance + 1))
    if not token or token <= spent then
      return nil
    end
    if redis.call('PTTL', lock) < tonumber(ttl) then
      redis.call('PEXPIRE', lock, ttl)
    end
    if member then
      redis.call('ZREM', queue, member)
    end
    return { token, 1 }
  end
  local owner = redis.call('GET', lock)
  if owner and string.sub(owner, 1, #instance) == instance then
    local granted = own_grant(lock, queue, ttl, member, owner)
    if granted then
      return granted
    end
    redis.call('DEL', lock)
    owner = nil
  end
  if member then
    enqueue(queue, member)
  end
  if not owner then
    owner = hand_off(lock, queue, member, shared)
    if not owner or owner == member then
      return nil
    end
  end
  return { redis.call('PTTL', lock), owner, mark() }
end
local reply, known = {}, nil
local ttl, wanted, member
local stride = (#KEYS - 1) / (#ARGV - 4)
for i = 1, #ARGV - 4 do
  local k = (i - 1) * stride + 2
  local lock, queue = KEYS[k], KEYS[k + 1]
  if ARGV[i + 4] ~= known then
    known = ARGV[i + 4]
    ttl, wanted, member = string.match(known, '^(%d+) (%d+) (.*)$')
    wanted = tonumber(wanted)
    member = member ~= '' and ARGV[1] .. '|' .. member
  end
  if redis.call('EXISTS', lock, queue) > 0 then
    reply[i] = queue_up(lock, queue, stride == 3 and KEYS[k + 2], ttl, member)
  end
  if not reply[i] then
    local token, n, text = mint(wanted)
    redis.call('SET', lock, instance .. text, 'PX', ttl)
    reply[i] = n == wanted and token or { token, n }
  end
end
return reply
`,
);
