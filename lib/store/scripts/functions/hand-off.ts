import { includeBelow, luaFunction } from './lua-function.js';
import { attempt, prepare } from './request.js';
import { cover, hasLapsed, share } from './shares.js';
import { clock, digits, ends } from './time.js';
import { mint, mintShares } from './tokens.js';

/** At the end of the prefix of the channels where it is not known whether the server counts receivers as it should. */
export const UNTRIED = '?';

/**
 * `tell(instance, message)`: whether anybody may have heard. Reads `inbox`, the prefix of the instances' channels.
 *
 * An inbox with a hash tag is heard in the slot of the lock (in a Cluster), hence SPUBLISH. Publishing counts the receivers:
 * none means that the instance is gone. Where nobody has tried whether it does, with `?` behind the prefix, with an empty
 * `inbox`, by which nobody is told, or where publishing is refused, the instance counts as alive: it finds its grant when it
 * asks again, or its lease runs out.
 */
export const tell = luaFunction()`
local function tell(instance, message)
  local publish = string.find(inbox, '{', 1, true) and 'SPUBLISH' or 'PUBLISH'
  local channels, untried = string.gsub(inbox, '%?$', '')
  local receivers = inbox == '' or redis.pcall(publish, channels .. instance, message)
  return type(receivers) ~= 'number' or receivers > 0 or untried > 0
end
`;

/**
 * `rest_of(place, n)`: the place in the queue of what is left of a shared turn once n of its holds were granted, or nil when
 * nothing is. Its turn is named `<turn>X<holds granted so far>`, so that its instance knows without being told.
 */
export const restOf = luaFunction()`
local function rest_of(place, n)
  local before, wanted, turn, had, limit = string.match(place, '^(.*|)(%d+)|([%l%d]+)X?(%d*)|(%d*)$')
  if wanted - n < 1 then
    return nil
  end
  return before .. wanted - n .. '|' .. turn .. 'X' .. (tonumber(had) or 0) + n .. '|' .. limit
end
`;

/**
 * `enqueue(queue, place)`: puts a waiting instance at the end of the queue, also when the clock was set back since others came;
 * one that is already there keeps its place. The queue outlives its last refresh by a minute, so that a crashed application
 * leaves nothing for good.
 */
export const enqueue = luaFunction(clock, digits)`
local function enqueue(queue, place)
  local newest = redis.call('ZRANGE', queue, -1, -1, 'WITHSCORES')[2] or 0
  redis.call('ZADD', queue, 'NX', digits(math.max(clock(), newest + 1)), place)
  redis.call('PEXPIRE', queue, 60000)
end
`;

/**
 * `hand_off(lock, queue, own, shared, held, take)`: hands a lock that nobody has alone to the first waiting instance that is alive,
 * and where that would share it, also to those behind it that would; returns the new owner id, `shared` for shared holds, or
 * nil when nobody waits who can have it. Call `prepare(queue)` before. Reads `prefix`, the length of what precedes `{name}` in keys.
 *
 * `held` is the number of live shared holders, 0 by default. Comes the turn of `own`, the caller's own place, that is
 * returned and nobody told; the lock alone is not written then, and shared holds are by `take(n)`, which returns how many of
 * them are wanted, and whether more than n are.
 *
 * The place of an instance that is gone goes to the next. The grant runs for the short claim lease that the waiter asked for; its
 * first renewal makes it a full one. Places are `<instance>|<claim lease in ms>|<tokens wanted>`, with
 * `|<turn>|<limit or nothing>` after that for shared holds. Where the key `shared` was not declared such a waiter is only told
 * to ask, and the lock is free. What a limit leaves for later keeps its place at the head (see `rest_of`), unless the instance
 * has let a lease by hand-off of the same turn run out: it may be frozen, and would cost the others another such lease each time.
 * With `ask_if_waiting` set, a head that cannot have the lock yet has to be alive to keep the others waiting, and is asked whether it
 * still waits: leaving the queue may have failed.
 */
export const handOff = luaFunction(restOf, tell, hasLapsed, mint, mintShares, share, ends)`
local ask_if_waiting
local function hand_off(lock, queue, own, shared, held, take)
  local given, name
  held = held or 0
  note_lapsed(shared)
  while true do
    local head = redis.call('ZPOPMIN', queue)
    local place = head[1]
    if not place then
      return given
    end
    local instance, claim_ttl, wanted, turn, limit = string.match(place, '^([^|]+)|(%d+)|(%d+)|?(%w*)|?(%d*)$')
    local room = held == 0 and 1 or 0
    if turn and turn ~= '' then
      room = math.min(tonumber(wanted), (tonumber(limit) or math.huge) - held)
    end
    local rest
    if instance and (room < 1 or turn ~= '' and not shared) then
      local asked = (shared and 'waiting ' .. place .. ' ' or 'released ') .. string.sub(lock, prefix + 2, -2)
      if place == own or shared and not ask_if_waiting or tell(instance, asked) then
        rest = place
        if not shared then
          redis.call('DEL', lock)
          given = 'shared'
        end
      end
    elseif place == own then
      if turn == '' then
        return own
      end
      local n, more = take(room)
      held = held + n
      given = own
      rest = more and rest_of(place, n)
    elseif instance and turn == '' then
      name = name or string.sub(lock, prefix + 2, -2)
      local _, n, token = mint(tonumber(wanted))
      if tell(instance, 'granted ' .. token .. ' ' .. n .. ' ' .. claim_ttl .. ' ' .. name) then
        local owner = instance .. ':' .. token
        redis.call('SET', lock, owner, 'PX', claim_ttl)
        return owner
      end
    elseif instance and not has_lapsed(instance, turn) then
      name = name or string.sub(lock, prefix + 2, -2)
      local _, token, holds = mint_shares(turn, room)
      if tell(instance, 'shared ' .. token .. ' ' .. holds .. ' ' .. claim_ttl .. ' ' .. turn .. ' ' .. name) then
        if held == 0 then
          redis.call('DEL', shared)
        end
        share(lock, shared, instance .. '~' .. turn, room, ends(tonumber(claim_ttl)) .. '.5')
        held = held + room
        given = given or 'shared'
        rest = rest_of(place, room)
      end
    end
    if rest then
      redis.call('ZADD', queue, head[2], rest)
      redis.call('PEXPIRE', queue, 60000)
      return given
    end
  end
end
`;

/** `go_on(lock, queue, shared, held)`: goes on with a shared lock from which holders were taken, where so many are left. */
export const goOn = luaFunction(cover, handOff)`
local function go_on(lock, queue, shared, held)
  if held > 0 then
    cover(lock, shared)
    hand_off(lock, queue, nil, shared, held)
  elseif not hand_off(lock, queue, nil, shared) then
    redis.call('DEL', lock)
  end
end
`;

/**
 * `pass_each(lock, queue, shared)`: for a step of `attempt`, gives a lock that somebody waits for to the head of its queue; deletes
 * it where nobody is there any more. Returns 2 where whoever waits for a shared hold was only told, else 1. What only a lock with
 * a queue needs is made when it is called: others are felt to cost less by it.
 */
export const passEach = luaFunction(attempt)`
local function pass_each(lock, queue, shared)
  ${includeBelow([attempt], handOff, prepare)}
  prepare(queue)
  local given = hand_off(lock, queue, nil, shared)
  if not given then
    redis.call('DEL', lock)
  end
  return given == 'shared' and not shared and 2 or 1
end
`;
