import { enqueue, handOff, ownPlace, restOf } from './functions/hand-off.js';
import { attempt, prepare } from './functions/request.js';
import { cover, live, ownHolds, share, termsIn } from './functions/shares.js';
import { clock, digits, ends, inTime } from './functions/time.js';
import { mintShares, tokenFloor } from './functions/tokens.js';
import { include, luaScript } from './lua-script.js';

/**
 * Grants shared holds of several locks, or queues the instance, for each lock separately. The reply also names the holds
 * that the store already keeps for the instance beyond those that it knows. They count as granted, so a repeated request
 * receives the same holds.
 *
 * KEYS  1 fence counter, then for each: lock, queue, shared holders.
 * ARGV  1 instance, 2 until when this counts (see inTime), 3 `<highest token of a hold that this instance has ended> <length of
 *       the key prefix> <inbox channel prefix, or empty for no messages>`, then for each its request:
 *       `<ttl in ms> <holds wanted> <tag> <since> <claim lease in ms> <known>`, without the claim lease to ask without
 *       queueing. The instance knows its holds with tokens up to `since`, and those with the tokens in `known`, separated
 *       by commas.
 * Reply for each: { token floor, first token of new holds, `<new holds>/<tokens>`, rest, token of each earlier hold, … }.
 *       The rest is `<ms left of the first lease that ends> <owner id or shared>`, or empty if all wanted holds are granted.
 *       For all together, minus the server's time in microseconds if the request is too late.
 *
 * Arrival order applies to both modes: if an instance waits, shared requests queue behind it. If fewer holds are
 * granted than wanted, the rest waits at the place of the instance. An instance has one place for each tag, which keeps
 * its position.
 *
 * O(k (h + n)) for k locks, h holds and n holders and waiting instances.
 */
export const acquireSharedScript = luaScript('acquire-shared')`
local fence, instance = KEYS[1], ARGV[1]
local ended_token, prefix, inbox = string.match(ARGV[3], '^(%d+) (%d+) (.*)$')
${include(mintShares, inTime, tokenFloor, live, cover, digits, ends, share, handOff, enqueue, attempt, prepare, restOf, clock, ownHolds, ownPlace, termsIn)}
ask_if_waiting = true
local function acquire(lock, queue, shared, request)
  local ttl, wanted, tag, since, claim, known = string.match(request, '^(%d+) (%d+) (%w+) (%d+) (%d*) (.*)$')
  local own, each, limit = instance .. '~' .. tag .. ':', terms_in(tag)
  local owner = redis.call('GET', lock)
  prepare(queue)
  if owner and string.sub(owner, 1, #instance + 1) == instance .. ':' then
    local token = tonumber(string.sub(owner, #instance + 2))
    if token and token <= tonumber(ended_token) then
      redis.call('DEL', lock)
      owner = nil
    end
  end
  local held, found, last = 0, {}, ends(tonumber(ttl))
  if owner == 'shared' then
    held = live(shared)
    found = own_holds(shared, own, tonumber(since), known)
    for _, token in ipairs(found) do
      redis.call('ZADD', shared, 'GT', last, own .. token)
    end
    if #found > 0 then
      cover(lock, shared)
    end
  end
  wanted = wanted - #found
  local first, holds, granted = 0, '', 0
  local function take(room)
    granted = math.min(room, wanted)
    local token, step, _, text = mint_shares(granted)
    first, holds = token, text
    if redis.call('GET', lock) ~= 'shared' then
      redis.call('DEL', shared)
    end
    share(lock, shared, own, granted, token, step, last)
    return granted, granted < wanted
  end
  local function fitting(held)
    return math.min(wanted, math.floor((limit - held) / each))
  end
  local is_open = not owner or owner == 'shared'
  local place = claim ~= '' and wanted > 0 and instance .. '|' .. claim .. '|' .. digits(wanted) .. '|' .. tag
  if redis.call('EXISTS', queue) == 1 then
    local former = claim ~= '' and own_place(queue, instance, tag)
    if former and former ~= place then
      local since = redis.call('ZSCORE', queue, former)
      redis.call('ZREM', queue, former)
      if place then
        redis.call('ZADD', queue, since, place)
      end
    end
    if place then
      enqueue(queue, place)
    end
    if is_open then
      hand_off(lock, queue, place, shared, held, take)
      if granted == 0 and not place and redis.call('EXISTS', queue) == 0 then
        owner = redis.call('GET', lock)
        held = owner == 'shared' and live(shared) or 0
        if (not owner or owner == 'shared') and fitting(held) > 0 then
          take(fitting(held))
        end
      end
    end
  else
    if is_open and fitting(held) > 0 then
      take(fitting(held))
    end
    if place and granted < wanted then
      enqueue(queue, rest_of(place, granted))
    end
  end
  local waiting = ''
  if granted < wanted then
    owner = redis.call('GET', lock)
    local left = redis.call('PTTL', lock)
    if owner == 'shared' then
      left = math.floor(redis.call('ZRANGE', shared, 0, 0, 'WITHSCORES')[2]) - math.floor(clock() / 1000)
    end
    waiting = digits(left) .. ' ' .. (owner or 'shared')
  end
  return { token_floor(), first, holds, waiting, unpack(found) }
end
local reply = {}
for i = 1, #ARGV - 3 do
  reply[i] = attempt(acquire, KEYS[3 * i - 1], KEYS[3 * i], KEYS[3 * i + 1], ARGV[i + 3])
end
return reply
`;
