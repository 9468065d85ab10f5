/** The server's time in microseconds, as `clock()`, and `digits(number)`, since Lua prints large ones in scientific notation. */
export const CLOCK = `
local now
local function clock()
  if not now then
    local time = redis.call('TIME')
    now = time[1] * 1000000 + time[2]
  end
  return now
end
local function digits(number)
  return string.format('%.0f', number)
end
`;

/**
 * Mints a block of fencing tokens: `mint(n, needed)` returns the first token, how many follow in a row from it, and the first
 * one's digits. Reads `fence`, the counter's key.
 *
 * The first token is max(last + 1, server time in microseconds), so tokens go on growing when the counter
 * is lost (FLUSHALL) or stale (failover): the clock carries them. While the counter is ahead of the clock by
 * more than 10 ms, blocks shrink to a single token, or to the `needed` ones, so that the clock catches up.
 * A counter beside its lock (in a Cluster) is kept for ten minutes only, so that no name leaves one for good.
 */
export const MINT = `${CLOCK}
local last
local kept = string.sub(fence, -7) == '}:fence' and '600000'
local function look()
  clock()
  if not last then
    last = tonumber(redis.call('GET', fence) or '0') or 0
  end
end
local function mint(n, needed)
  look()
  if last > now + 10000 then
    n = needed or 1
  end
  local token = math.max(last + 1, now)
  last = token + n - 1
  local text = digits(token)
  local used = n == 1 and text or digits(last)
  if kept then
    redis.call('SET', fence, used, 'PX', kept)
  else
    redis.call('SET', fence, used)
  end
  return token, n, text
end
`;

/** A number that every token minted later exceeds: tells grants made before this moment from those made after. */
export const MARK = `
local function mark()
  look()
  return math.max(last, now)
end
`;

/**
 * Holds that others may have at the same time are kept in `shared`, scored by the end of their leases in ms since 1970;
 * the lock itself says `shared` then, and expires with the last of them. So whoever asks for the lock alone sees that it
 * is taken without knowing of them.
 *
 * `live(shared)` counts the holders whose leases have not run out; `cover(lock, shared)` lets the lock last as long as
 * they do; `share(lock, shared, turn, n, last)` adds the n holds of `<instance>~<turn>`, up to the end `last`. One that is
 * there already keeps a longer lease, for a request may arrive once more when its turn has long begun.
 *
 * `ends(ttl)` is the end of a lease that its instance asks for. A lease by hand-off, `claim_ends(ttl)`, ends half a
 * millisecond later until its instance has renewed it: where such a one runs out, `live` notes its turn in `lapsed`, for
 * nobody may be there any more. So that this is not missed, the holders are kept for a minute longer than the lock then.
 */
export const SHARE = `
local lapsed = {}
local function live(shared)
  local over = redis.call('ZRANGE', shared, '-inf', digits(math.floor(clock() / 1000)), 'BYSCORE', 'WITHSCORES')
  for i = 1, #over, 2 do
    redis.call('ZREM', shared, over[i])
    if string.find(over[i + 1], '.', 1, true) then
      lapsed[string.match(over[i], '^[^~]*~[%l%d]+')] = true
    end
  end
  return redis.call('ZCARD', shared)
end
local function cover(lock, shared)
  local last = redis.call('ZRANGE', shared, -1, -1, 'WITHSCORES')[2]
  local whole, claimed = string.match(last, '^(%d+)(%.?)')
  redis.call('SET', lock, 'shared', 'PXAT', whole)
  redis.call('PEXPIREAT', shared, claimed == '' and whole or digits(whole + 60000))
end
local function ends(ttl)
  return digits(math.floor(clock() / 1000) + ttl)
end
local function claim_ends(ttl)
  return ends(ttl) .. '.5'
end
local function share(lock, shared, turn, n, last)
  for i = 1, n do
    redis.call('ZADD', shared, 'GT', last, turn .. ':' .. i)
  end
  cover(lock, shared)
end
`;

/**
 * Renews a shared hold's lease, as the extend scripts are asked to: `renew_share(shared, owner, lease)` returns whether
 * there is such a hold, and whether its lease has changed. A longer one is shortened only with `=` before the ttl.
 * Those whose leases have run out are left for a script that goes on with the queue.
 */
export const RENEW_SHARE = `
local function renew_share(shared, owner, lease)
  local kept = tonumber(redis.call('ZSCORE', shared, owner) or '0')
  if kept <= math.floor(clock() / 1000) then
    return false, false
  end
  local exact, ttl = string.match(lease, '^(=?)(%d+)$')
  local last = ends(tonumber(ttl))
  local changes = exact == '=' or math.floor(kept) <= tonumber(last)
  if changes then
    redis.call('ZADD', shared, last, owner)
  end
  return true, changes
end
`;

/**
 * The place in the queue of what is left of a shared turn once n of its holds were granted: `rest_of(member, n)`, or nil
 * when nothing is. Its turn is named `<turn>X<holds granted so far>`, so that its instance knows without being told.
 */
export const REST = `
local function rest_of(member, n)
  local before, wanted, turn, had, limit = string.match(member, '^(.*|)(%d+)|([%l%d]+)X?(%d*)|(%d*)$')
  if wanted - n < 1 then
    return nil
  end
  return before .. wanted - n .. '|' .. turn .. 'X' .. (tonumber(had) or 0) + n .. '|' .. limit
end
`;

/**
 * Hands a lock that nobody has alone to the first waiting instance that is alive, and where that would share it, also
 * to those behind it that would: `hand_off(lock, queue, own, shared, held, take)` returns the new owner id, `shared`
 * for shared holds, or nil when nobody waits who can have it. `held` is the number of live shared holders, 0 by
 * default. Comes the turn of `own`, the caller's own queue member, that is returned and nobody told; the lock alone is
 * not written then, and shared holds are by `take(n)`, which returns how many of them are wanted, and whether more than
 * n are. Reads `inbox`, the prefix of the instances' channels, and `prefix`, the length of what precedes `{name}` in keys.
 *
 * An inbox with a hash tag is heard in the slot of the lock (in a Cluster), hence SPUBLISH.
 * Publishing counts the receivers: none means that the instance is gone, so its place goes to the next.
 * With an empty `inbox` nobody is told: the instance finds the lock when it asks again, or its lease runs out.
 * The grant runs for the short claim lease that the waiter asked for; its first renewal makes it a full one.
 * Queue members are `<instance>|<claim lease in ms>|<tokens wanted>`, with `|<turn>|<limit or nothing>` after that for
 * shared holds. Where the key `shared` was not declared such a waiter is only told to ask, and the lock is free.
 * What a limit leaves for later keeps its place at the head (see REST), unless the instance has let a lease by hand-off of
 * the same turn run out: it may be frozen, and would cost the others another such lease each time.
 * With `probing` set, a head that cannot have the lock yet has to be alive to keep the others waiting, and is asked
 * whether it still waits: leaving the queue may have failed.
 */
export const HAND_OFF = `
${REST}
local probing
local function tell(instance, message)
  local publish = string.find(inbox, '{', 1, true) and 'SPUBLISH' or 'PUBLISH'
  return inbox == '' or redis.call(publish, inbox .. instance, message) > 0
end
local function put_back(queue, since, member)
  redis.call('ZADD', queue, since, member)
  redis.call('PEXPIRE', queue, 60000)
end
local function has_lapsed(shared, instance, turn)
  local name = string.match(turn, '^([%l%d]+)X')
  if not name or not shared then
    return false
  end
  live(shared)
  return lapsed[instance .. '~' .. name]
end
local function hand_off(lock, queue, own, shared, held, take)
  local given, name
  held = held or 0
  while true do
    local head = redis.call('ZPOPMIN', queue)
    local member = head[1]
    if not member then
      return given
    end
    local instance, claim, wanted, turn, limit = string.match(member, '^([^|]+)|(%d+)|(%d+)|?(%w*)|?(%d*)$')
    local room = held == 0 and 1 or 0
    if turn and turn ~= '' then
      room = math.min(tonumber(wanted), (tonumber(limit) or math.huge) - held)
    end
    local rest
    if instance and (room < 1 or turn ~= '' and not shared) then
      local asked = (shared and 'waiting ' .. member .. ' ' or 'released ') .. string.sub(lock, prefix + 2, -2)
      if member == own or shared and not probing or tell(instance, asked) then
        put_back(queue, head[2], member)
        if not shared then
          redis.call('DEL', lock)
          return 'shared'
        end
        return given
      end
    elseif member == own then
      if turn == '' then
        return own
      end
      local n, more = take(room)
      held = held + n
      given = own
      rest = more and rest_of(member, n)
    elseif instance and turn == '' then
      name = name or string.sub(lock, prefix + 2, -2)
      local _, n, token = mint(tonumber(wanted))
      if tell(instance, 'granted ' .. token .. ' ' .. n .. ' ' .. claim .. ' ' .. name) then
        local owner = instance .. ':' .. token
        redis.call('SET', lock, owner, 'PX', claim)
        return owner
      end
    elseif instance and not has_lapsed(shared, instance, turn) then
      name = name or string.sub(lock, prefix + 2, -2)
      local _, n, token = mint(room, room)
      if tell(instance, 'shared ' .. token .. ' ' .. n .. ' ' .. claim .. ' ' .. turn .. ' ' .. name) then
        if held == 0 then
          redis.call('DEL', shared)
        end
        share(lock, shared, instance .. '~' .. turn, n, claim_ends(tonumber(claim)))
        held = held + n
        given = given or 'shared'
        rest = rest_of(member, n)
      end
    end
    if rest then
      put_back(queue, head[2], rest)
      return given
    end
  end
end
`;

/**
 * Goes on with a shared lock from which holders were taken: `go_on(lock, queue, shared, held)`, where so many are left.
 */
export const GO_ON = `
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
 * Puts a waiting instance at the end of the queue; one that is already there keeps its place.
 * The queue outlives its last refresh by a minute, so that a crashed application leaves nothing for good.
 */
export const ENQUEUE = `
local function enqueue(queue, member)
  look()
  redis.call('ZADD', queue, 'NX', digits(now), member)
  redis.call('PEXPIRE', queue, 60000)
end
`;
