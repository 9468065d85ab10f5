import { enqueue, handOff } from './functions/hand-off.js';
import { attempt, prepare } from './functions/request.js';
import { digits, inTime } from './functions/time.js';
import { mint, tokenFloor } from './functions/tokens.js';
import { include, includeBelow, luaScript } from './lua-script.js';

/**
 * Grants several locks, or queues the instance, for each lock separately. A repeated request receives the same reply.
 * Requests of one tick share a call, because most of the cost of a request is the cost of its call.
 *
 * KEYS  1 fence counter, then for each: lock, queue, and shared holders if this instance has met shared mode.
 * ARGV  1 instance, 2 until when this counts (see inTime), 3 `<highest token of a hold that this instance has ended> <length of
 *       the key prefix> <inbox channel prefix, or empty for no messages>`, then for each its request:
 *       `<ttl in ms> <tokens wanted> <rest of the place>`, without a rest to ask without queueing. A token after that
 *       counts in place of the highest one.
 * Reply for each granted: first token, or { first token, tokens } if there are fewer than wanted.
 *                waiting: { ms left of the holder's lease (negative: no expiry), owner id or `shared`, token floor }.
 *       For all together, the first token if all are granted with one token each: the others have the next numbers.
 *       Or minus the server's time in microseconds if the request is too late.
 *
 * If this instance already owns the lock, the reply to its grant was lost, and the script grants it again unchanged. If
 * its hold has ended in the instance and only the release was lost, the lock counts as free. A free lock with a queue
 * goes to the head of the queue, whichever instance asks. The tokens of all following names are minted together with
 * those of the first free one; unused tokens are skipped.
 *
 * O(k log n) for k locks with n waiting instances; O(k) for free names.
 */
export const acquireScript = luaScript('acquire')`
local fence, instance, n = KEYS[1], ARGV[1] .. ':', #ARGV - 3
local stride = (#KEYS - 1) / n
-- The most common request, for free names with equal requests, skips the functions below: their set-up takes Redis longer than
-- the request. Not so a counter beside its lock, whose key is longer by this suffix: it expires.
if ARGV[4] == ARGV[#ARGV] and #fence ~= #KEYS[2] + #':fence' and redis.call('EXISTS', unpack(KEYS, 2)) == 0 then
  local request = ARGV[4]
  local ttl = string.match(request, '^(%d+) 1 ')
  for i = 5, n + 2 do
    ttl = ARGV[i] == request and ttl
  end
  local time = ttl and redis.pcall('TIME')
  local us = time and time[2]
  local token = us and time[1] .. (#us == 6 and us or string.format('%06d', us))
  if token and (ARGV[2] == '' or token <= ARGV[2]) then
    local last = redis.call('SET', fence, n == 1 and token or string.format('%.0f', token + n - 1), 'GET')
    if not last or #last <= #token and last < token then
      local call, text = redis.call, token
      for i = 1, n do
        -- With GET the reply is nil; for OK, Redis would create a table.
        call('SET', KEYS[2 + (i - 1) * stride], instance .. text, 'PX', ttl, 'GET')
        text = i < n and string.format('%.0f', token + i)
      end
      return tonumber(token)
    end
    redis.call('SET', fence, last)
  end
end
local function acquire()
local ended_token, prefix, inbox = string.match(ARGV[3], '^(%d+) (%d+) (.*)$')
${include(mint, digits, inTime, attempt)}
-- Only a taken lock needs these functions: without them, free ones measurably cost less.
local function queue_up(lock, queue, shared, ttl, place, ended_token)
  ${includeBelow([mint, digits, attempt], tokenFloor, handOff, enqueue, prepare)}
  local owner = redis.call('GET', lock)
  prepare(queue)
  if owner and string.sub(owner, 1, #instance) == instance then
    local token = tonumber(string.sub(owner, #instance + 1))
    if token and token > tonumber(ended_token) then
      if redis.call('PTTL', lock) < tonumber(ttl) then
        redis.call('PEXPIRE', lock, ttl)
      end
      if place then
        redis.call('ZREM', queue, place)
      end
      return { token, 1 }
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
local ttl, wanted, place, ended_of_name
local token, left, is_short = nil, 0, false
for i = 1, n do
  local k = (i - 1) * stride + 2
  local lock, queue = KEYS[k], KEYS[k + 1]
  if ARGV[i + 3] ~= known then
    known = ARGV[i + 3]
    ttl, wanted, place, ended_of_name = string.match(known, '^(%d+) (%d+) (%S*) ?(%d*)$')
    wanted = tonumber(wanted)
    place = place ~= '' and ARGV[1] .. '|' .. place
  end
  if redis.call('EXISTS', lock, queue) > 0 then
    reply[i] = attempt(queue_up, lock, queue, stride == 3 and KEYS[k + 2], ttl, place, tonumber(ended_of_name) or ended_token)
  end
  if not reply[i] then
    if left < (is_short and 1 or wanted) then
      local rest = n + 1 - i
      token, left = mint(wanted * rest, rest)
      is_short = left < wanted * rest
    end
    local n = is_short and 1 or wanted
    redis.call('SET', lock, instance .. digits(token), 'PX', ttl, 'GET')
    reply[i] = n == wanted and token or { token, n }
    token, left = token + n, left - n
  end
end
return reply
end
return acquire()
`;
