import { luaFunction } from '../lua-script.js';
import { cover, noteLapsed, share, termsIn } from './shares.js';
import { clock, digits, ends } from './time.js';
import { mint, mintShares } from './tokens.js';

/** Suffix of the channel prefix while it is unknown whether the server counts receivers correctly. */
export const UNTRIED = '?';

/**
 * `notify(instance, message)`: publishes a message to an instance; returns whether the instance may be alive. Reads
 * `inbox`, the prefix of the instances' channels.
 *
 * The receivers of an inbox with a hash tag listen in the slot of the lock (on a Cluster), hence SPUBLISH. PUBLISH
 * returns the number of receivers: 0 means that the instance is gone. The instance counts as alive if that number is
 * untested (`?` after the prefix), if `inbox` is empty for no messages, or if publishing is rejected. It then finds its
 * grant when it asks again, or its lease expires.
 */
export const notify = luaFunction()`
local function notify(instance, message)
  local publish = string.find(inbox, '{', 1, true) and 'SPUBLISH' or 'PUBLISH'
  local channels, untried = string.gsub(inbox, '%?$', '')
  local receivers = inbox == '' or redis.pcall(publish, channels .. instance, message)
  return type(receivers) ~= 'number' or receivers > 0 or untried > 0
end
`;

/** `rest_of(place, n)`: a place after n of its shared holds were granted, or nil if none remains. */
export const restOf = luaFunction()`
local function rest_of(place, n)
  local before, wanted, tag = string.match(place, '^(.*|)(%d+)(|%w+)$')
  return wanted - n > 0 and before .. wanted - n .. tag or nil
end
`;

/**
 * `own_place(queue, instance, tag)`: the place in the queue of an instance for shared holds of a tag, or nil. There is
 * at most one.
 */
export const ownPlace = luaFunction()`
local function own_place(queue, instance, tag)
  for _, place in ipairs(redis.call('ZRANGE', queue, 0, -1)) do
    local waiting, wanted = string.match(place, '^([^|]+)|%d+|%d+|(%w+)$')
    if waiting == instance and wanted == tag then
      return place
    end
  end
end
`;

/**
 * `enqueue(queue, place)`: appends a waiting instance to the queue, also after the clock was set back; an existing
 * place stays, and its instance gets a message, which shows that its messages arrive. The queue outlives its last
 * refresh by a minute, so that a crashed application leaves nothing permanently.
 */
export const enqueue = luaFunction(clock, digits, notify)`
local function enqueue(queue, place)
  local newest = redis.call('ZRANGE', queue, -1, -1, 'WITHSCORES')[2] or 0
  if redis.call('ZADD', queue, 'NX', digits(math.max(clock(), newest + 1)), place) == 0 then
    notify(string.match(place, '^[^|]+'), 'tried')
  end
  redis.call('PEXPIRE', queue, 60000)
end
`;

/**
 * `hand_off(lock, queue, own, shared, held, take)`: hands a lock without an exclusive holder to the first live instance
 * in the queue. If that one wants a shared hold, also to the shared waiters directly behind it. Returns the new owner
 * id, `shared` for shared holds, or nil without a suitable waiter. Call `prepare(queue)` before. Reads `prefix`, the
 * length of the part before `{name}` in keys.
 *
 * `held` is the number of permits of live shared holders, 0 by default. If it is greater, call `live(shared)` before. If the head
 * of the queue is `own` (the caller's own place), returns it without publishing. For an exclusive place the caller
 * writes the lock. For a shared place, `take(n)` writes up to n holds and returns how many were taken and whether more
 * are wanted.
 *
 * The place of a dead instance passes to the next one. The grant has the short claim lease of the place; its first
 * renewal makes it a full lease. Places are `<instance>|<claim lease in ms>|<wanted tokens>`, for shared
 * holds `<instance>|<claim lease in ms>|<wanted holds>|<tag>` (see `terms_in`). If the key `shared` was not declared, a shared waiter is only notified to ask, and the
 * lock is free.
 *
 * A partly granted place stays at the head (see `rest_of`). But if its instance let a claim lease expire, it loses its
 * place for shared holds. The instance may be frozen, and each wanted hold would cost the others one more such lease.
 * With `ask_if_waiting` set, a blocked head must be alive to block the others. Its instance is also
 * asked whether it still waits, because its request to leave may have failed.
 */
export const handOff = luaFunction(restOf, notify, noteLapsed, mint, mintShares, share, ends, termsIn)`
local ask_if_waiting
local function hand_off(lock, queue, own, shared, held, take)
  local given, name
  held = held or 0
  if held == 0 then
    note_lapsed(shared)
  end
  while true do
    local head = redis.call('ZPOPMIN', queue)
    local place = head[1]
    if not place then
      return given
    end
    local instance, claim_ttl, wanted, tag = string.match(place, '^([^|]+)|(%d+)|(%d+)|?(%w*)$')
    local room, each = held == 0 and 1 or 0, 1
    if tag and tag ~= '' then
      local limit
      each, limit = terms_in(tag)
      room = math.min(wanted, math.floor((limit - held) / each))
    end
    local rest
    if instance and (room < 1 or tag ~= '' and not shared) then
      local asked = (shared and 'waiting ' .. place .. ' ' or 'released ') .. string.sub(lock, prefix + 2, -2)
      if place == own or shared and not ask_if_waiting or notify(instance, asked) then
        rest = place
        if not shared then
          redis.call('DEL', lock)
          given = 'shared'
        end
      end
    elseif place == own then
      if tag == '' then
        return own
      end
      local n, more = take(room)
      held = held + n * each
      given = own
      rest = more and rest_of(place, n)
    elseif instance and tag == '' then
      name = name or string.sub(lock, prefix + 2, -2)
      local _, n, token = mint(tonumber(wanted))
      if notify(instance, 'granted ' .. token .. ' ' .. n .. ' ' .. claim_ttl .. ' ' .. name) then
        local owner = instance .. ':' .. token
        redis.call('SET', lock, owner, 'PX', claim_ttl)
        return owner
      end
    elseif instance and not lapsed[instance] then
      name = name or string.sub(lock, prefix + 2, -2)
      local token, step, text, holds = mint_shares(room)
      if notify(instance, 'shared ' .. text .. ' ' .. holds .. ' ' .. claim_ttl .. ' ' .. tag .. ' ' .. name) then
        if held == 0 then
          redis.call('DEL', shared)
        end
        share(lock, shared, instance .. '~' .. tag .. ':', room, token, step, ends(tonumber(claim_ttl)) .. '.5')
        held = held + room * each
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

/**
 * `serve_queue(lock, queue, shared, held)`: continues with the queue of a lock after all holders, or some shared ones, were
 * removed; `held` permits are left. Returns what `hand_off` returns, and deletes a lock that nobody receives.
 */
export const serveQueue = luaFunction(cover, handOff)`
local function serve_queue(lock, queue, shared, held)
  if held > 0 then
    cover(lock, shared)
  end
  local given = hand_off(lock, queue, nil, shared, held)
  if held == 0 and not given then
    redis.call('DEL', lock)
  end
  return given
end
`;
