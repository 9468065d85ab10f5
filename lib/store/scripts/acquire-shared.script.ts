import { enqueue, handOff, restOf } from './functions/hand-off.js';
import { attempt, prepare } from './functions/request.js';
import { cover, isLive, live, share, weight } from './functions/shares.js';
import { clock, ends, inTime } from './functions/time.js';
import { mintShares, tokenFloor } from './functions/tokens.js';
import { include } from './functions/lua-function.js';
import { luaScript } from './lua-script.js';

/**
 * Grants shared holds of several locks, or queues the instance, for each lock separately. A repeated request of a turn
 * receives the same holds, with new tokens.
 *
 * KEYS  1 fence counter, then for each: lock, queue, shared holders
 * ARGV  1 instance, 2 until when this counts (see inTime), 3 `<highest token of a hold that this instance has ended> <length of
 *       the key prefix> <inbox channel prefix, or empty for no messages>`, then for each its terms:
 *       `<ttl in ms> <holds wanted> <turn> <limit or nothing> <claim lease in ms>|<holds wanted at first>`,
 *       without the last part to ask without queueing
 * Reply for each granted: { first token, `<holds>/<tokens>` }; there may be fewer holds than wanted, and more tokens than holds
 *                waiting: { ms left of the first lease that ends (negative: no expiry), owner id or `shared`, token floor }
 *       or, for all together, the server's time in microseconds if the request is too late
 *
 * Arrival order applies to both modes: if an instance waits, shared requests queue behind it. If fewer holds are
 * granted than wanted, the rest waits at the head of the queue as `<turn>X<holds granted so far>`.
 *
 * O(k (h + log n)) for k locks, h holds and n holders and waiting instances.
 */
export const acquireSharedScript = luaScript('acquire-shared')`
local fence, instance = KEYS[1], ARGV[1]
local ended_token, prefix, inbox = string.match(ARGV[3], '^(%d+) (%d+) (.*)$')
${include(mintShares, inTime, tokenFloor, isLive, live, cover, ends, share, handOff, enqueue, attempt, prepare, restOf, clock, weight)}
ask_if_waiting = true
local function grant_of(n)
  local token, _, holds = mint_shares(n)
  return { token, holds }
end
local function granted_before(lock, queue, shared, turn, ttl, place)
  local n = 0
  while is_live(shared, instance .. '~' .. turn .. ':' .. (n + 1)) do
    n = n + 1
    redis.call('ZADD', shared, 'GT', ends(ttl), instance .. '~' .. turn .. ':' .. n)
  end
  if n == 0 then
    return nil
  end
  cover(lock, shared)
  if place then
    redis.call('ZREM', queue, place)
  end
  return grant_of(n)
end
local function waiting(lock, shared)
  local owner = redis.call('GET', lock)
  local left = redis.call('PTTL', lock)
  if owner == 'shared' then
    left = redis.call('ZRANGE', shared, 0, 0, 'WITHSCORES')[2] - math.floor(clock() / 1000)
  end
  return { left, owner or 'shared', token_floor() }
end
local function acquire(lock, queue, shared, terms)
  local ttl, wanted, turn, limit, rest = string.match(terms, '^(%d+) (%d+) (%w+) (%d*) (.*)$')
  local place = rest ~= '' and instance .. '|' .. rest .. '|' .. turn .. '|' .. limit
  ttl, wanted, limit = tonumber(ttl), tonumber(wanted), tonumber(limit) or math.huge
  local owner = redis.call('GET', lock)
  prepare(queue)
  if owner and string.sub(owner, 1, #instance + 1) == instance .. ':' then
    local token = tonumber(string.sub(owner, #instance + 2))
    if token and token <= tonumber(ended_token) then
      redis.call('DEL', lock)
      owner = nil
    end
  end
  local held = 0
  if owner == 'shared' then
    local granted = granted_before(lock, queue, shared, turn, ttl, place)
    if granted then
      return granted
    end
    held = live(shared)
  elseif owner then
    if place then
      enqueue(queue, place)
    end
    return waiting(lock, shared)
  end
  local granted
  local function take(room)
    local n = math.min(room, wanted)
    granted = grant_of(n)
    if redis.call('GET', lock) ~= 'shared' then
      redis.call('DEL', shared)
    end
    share(lock, shared, instance .. '~' .. turn, n, ends(ttl))
    return n, n < wanted
  end
  local function fitting(held)
    return math.min(wanted, math.floor((limit - held) / weight('~' .. turn)))
  end
  local room = fitting(held)
  if redis.call('EXISTS', queue) == 0 and room > 0 then
    local n, more = take(room)
    local left = place and more and rest_of(place, n)
    if left then
      enqueue(queue, left)
    end
    return granted
  end
  if place then
    enqueue(queue, place)
  end
  hand_off(lock, queue, place, shared, held, take)
  if not granted and not place and redis.call('EXISTS', queue) == 0 then
    owner = redis.call('GET', lock)
    room = fitting(owner == 'shared' and live(shared) or 0)
    if (not owner or owner == 'shared') and room > 0 then
      take(room)
    end
  end
  return granted or waiting(lock, shared)
end
local reply = {}
for i = 1, #ARGV - 3 do
  reply[i] = attempt(acquire, KEYS[3 * i - 1], KEYS[3 * i], KEYS[3 * i + 1], ARGV[i + 3])
end
return reply
`;
