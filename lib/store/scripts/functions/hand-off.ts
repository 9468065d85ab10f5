import { ends } from './ends.js';
import { hasLapsed } from './has-lapsed.js';
import { mint } from './mint.js';
import { mintShares } from './mint-shares.js';
import { restOf } from './rest-of.js';
import { share } from './share.js';
import { tell } from './tell.js';
import { luaFunction } from './lua-function.js';

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
    elseif instance and not has_lapsed(shared, instance, turn) then
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
