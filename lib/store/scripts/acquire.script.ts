import { attempt } from './functions/attempt.js';
import { digits } from './functions/digits.js';
import { enqueue } from './functions/enqueue.js';
import { handOff } from './functions/hand-off.js';
import { inTime } from './functions/in-time.js';
import { tokenFloor } from './functions/token-floor.js';
import { mint } from './functions/mint.js';
import { prepare } from './functions/prepare.js';
import { include, includeBelow } from './functions/lua-function.js';
import { luaScript } from './lua-script.js';

/**
 * For each of several locks, grants it or puts the instance into its queue. Asked twice, it gives the same answer
 * twice. Requests of one tick share a call, since most of what a request costs is that of the call.
 *
 * KEYS  1 fence counter, then for each: lock, queue, and shared holders where anybody here knows of modes
 * ARGV  1 instance, 2 highest token of a hold that this instance has ended and, after a space, until when this counts
 *       (see inTime), 3 inbox channel prefix or '' (tell nobody), 4 length of the key prefix, then for each its terms: `<ttl in ms> <tokens wanted> <rest of the place>`,
 *       without a rest to ask without queueing
 * Reply for each granted: first token, or { first token, tokens } where there are fewer than wanted
 *                waiting: { ms left of the holder's lease (negative: no expiry), owner id or `shared`, token floor }
 *       or, for all together, the server's time in microseconds where the request comes too late
 *
 * A key that this instance already owns is its own grant whose reply was lost, and is granted again as it is;
 * unless its hold has ended here and only the release went missing: then it counts as free.
 * A free lock with a queue goes to the head of the queue, whoever asks. The tokens of all names that are still to come are
 * minted with those of the first free one: what such a name does not take is left out.
 *
 * O(k log n) for k locks with n waiting instances; O(k) for free names.
 */
export const acquireScript = luaScript('acquire')`
local fence, instance, inbox, prefix = KEYS[1], ARGV[1] .. ':', ARGV[3], ARGV[4]
-- One free name, the most common request by far, has no need of what takes Redis longer to set up than to run.
if #ARGV == 5 and redis.call('EXISTS', KEYS[2], KEYS[3]) == 0 and fence ~= KEYS[2] .. ':fence' then
  local ttl = string.match(ARGV[5], '^(%d+) 1 ')
  local time = ttl and redis.pcall('TIME')
  local token = time and time[1] and time[1] .. string.format('%06d', time[2])
  local latest = string.match(ARGV[2], ' (%d+)$')
  if token and (not latest or token <= latest) then
    local last = redis.call('SET', fence, token, 'GET')
    if not last or #last <= #token and last < token then
      redis.call('SET', KEYS[2], instance .. token, 'PX', ttl)
      return { tonumber(token) }
    end
    redis.call('SET', fence, last)
  end
end
local function acquire()
${include(mint, digits, inTime, attempt)}
-- What only a taken lock needs is made here: free ones are felt to cost less by it.
local function queue_up(lock, queue, shared, ttl, place)
  ${includeBelow([mint, digits, attempt], tokenFloor, handOff, enqueue, prepare)}
  local function own_grant(lock, queue, ttl, place, owner)
    local token = tonumber(string.sub(owner, #instance + 1))
    if not token or token <= tonumber(string.match(ARGV[2], '^%d+')) then
      return nil
    end
    if redis.call('PTTL', lock) < tonumber(ttl) then
      redis.call('PEXPIRE', lock, ttl)
    end
    if place then
      redis.call('ZREM', queue, place)
    end
    return { token, 1 }
  end
  local owner = redis.call('GET', lock)
  prepare(queue)
  if owner and string.sub(owner, 1, #instance) == instance then
    local granted = own_grant(lock, queue, ttl, place, owner)
    if granted then
      return granted
    end
    redis.call('DEL', lock)
    owner = nil
  end
  if place then
    enqueue(queue, place)
  end
  if not owner then
    owner = hand_off(lock, queue, place, shared)
    if not owner or owner == place then
      return nil
    end
  end
  return { redis.call('PTTL', lock), owner, token_floor() }
end
local reply, known = {}, nil
local ttl, wanted, place
local token, left, is_short = nil, 0, false
local stride = (#KEYS - 1) / (#ARGV - 4)
for i = 1, #ARGV - 4 do
  local k = (i - 1) * stride + 2
  local lock, queue = KEYS[k], KEYS[k + 1]
  if ARGV[i + 4] ~= known then
    known = ARGV[i + 4]
    ttl, wanted, place = string.match(known, '^(%d+) (%d+) (.*)$')
    wanted = tonumber(wanted)
    place = place ~= '' and ARGV[1] .. '|' .. place
  end
  if redis.call('EXISTS', lock, queue) > 0 then
    reply[i] = attempt(queue_up, lock, queue, stride == 3 and KEYS[k + 2], ttl, place)
  end
  if not reply[i] then
    if left < (is_short and 1 or wanted) then
      local rest = #ARGV - 3 - i
      token, left = mint(wanted * rest, rest)
      is_short = left < wanted * rest
    end
    local n = is_short and 1 or wanted
    redis.call('SET', lock, instance .. digits(token), 'PX', ttl)
    reply[i] = n == wanted and token or { token, n }
    token, left = token + n, left - n
  end
end
return reply
end
return acquire()
`;
