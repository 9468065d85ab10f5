import { luaFunction } from '../lua-script.js';
import { clock, digits } from './time.js';

/**
 * A member beside the holders of a name, with an infinite score, while one of them may have several permits. Without
 * it, the number of holders is the number of their permits, and no script reads them all.
 */
const SEVERAL = 'several';

/** `weight(owner)`: the number of permits of a hold, from its owner id `<instance>~s<permits>…`. */
export const weight = luaFunction()`
local function weight(owner)
  return tonumber(string.match(owner, '~s(%d+)')) or 1
end
`;

/** `terms_in(tag)`: the permits of each hold and the limit of a tag `s<permits>of<limit>`. */
export const termsIn = luaFunction()`
local function terms_in(tag)
  return tonumber(string.match(tag, '^s(%d+)')), tonumber(string.match(tag, 'of(%d+)$')) or math.huge
end
`;

/** `permits(shared)`: the number of permits of the holders in `shared`. */
export const permits = luaFunction(weight)`
local function permits(shared)
  local count = redis.call('ZCARD', shared)
  if count == 0 or not redis.call('ZSCORE', shared, '${SEVERAL}') then
    return count
  end
  local owners = redis.call('ZRANGE', shared, 0, -2)
  count = 0
  for _, owner in ipairs(owners) do
    count = count + weight(owner)
  end
  if count == #owners then
    redis.call('ZREM', shared, '${SEVERAL}')
  end
  return count
end
`;

/**
 * `cover(lock, shared)`: sets the lock to `shared` until the last lease of its holders expires, so that exclusive requests see
 * that it is taken. The holders are kept for a minute longer, so that a later script finds claim leases that have expired.
 */
export const cover = luaFunction(digits)`
local function cover(lock, shared)
  local last = redis.call('ZRANGE', shared, '(inf', '-inf', 'BYSCORE', 'REV', 'LIMIT', 0, 1, 'WITHSCORES')[2]
  local whole = string.match(last, '^%d+')
  redis.call('SET', lock, 'shared', 'PXAT', whole)
  redis.call('PEXPIREAT', shared, digits(whole + 60000))
end
`;

/**
 * `live(shared)`: the number of permits of the holders in `shared` with unexpired leases; removes the other holders.
 *
 * The score of a shared hold is the end of its lease in ms since 1970. The score of a claim lease is half a millisecond
 * later until its instance has renewed it. Instances whose claim leases expired are recorded in `lapsed`, because they
 * may be dead. A script calls it only before `hand_off` of this lock, because later scripts do not find these claim
 * leases.
 */
export const live = luaFunction(clock, digits, permits)`
local lapsed = {}
local function live(shared)
  local over = redis.call('ZRANGE', shared, '-inf', digits(math.floor(clock() / 1000)), 'BYSCORE', 'WITHSCORES')
  for i = 1, #over, 2 do
    redis.call('ZREM', shared, over[i])
    if string.find(over[i + 1], '.', 1, true) then
      lapsed[string.match(over[i], '^[^~]*')] = true
    end
  end
  return permits(shared)
end
`;

/**
 * `own_holds(shared, own, since, known)`: the tokens of the holders whose owner ids begin with `own`, greater than
 * `since` and not in the list `known`. Call `live(shared)` before.
 */
export const ownHolds = luaFunction()`
local function own_holds(shared, own, since, known)
  local tokens = {}
  for _, owner in ipairs(redis.call('ZRANGE', shared, 0, -1)) do
    if string.sub(owner, 1, #own) == own then
      local token = string.sub(owner, #own + 1)
      if tonumber(token) > since and not string.find(known, token, 1, true) then
        tokens[#tokens + 1] = token
      end
    end
  end
  return tokens
end
`;

/** `is_live(shared, owner)`: whether a shared hold exists and its lease has not expired. */
export const isLive = luaFunction(clock)`
local function is_live(shared, owner)
  local last = redis.call('ZSCORE', shared, owner)
  return last and tonumber(last) > math.floor(clock() / 1000)
end
`;

/** `unexpired(shared, …)`: the shared holders with unexpired leases, with further arguments of ZRANGE. */
export const unexpired = luaFunction(clock, digits)`
local function unexpired(shared, ...)
  return redis.call('ZRANGE', shared, '(' .. digits(math.floor(clock() / 1000)), '(inf', 'BYSCORE', ...)
end
`;

/** `holders(lock, shared)`: the owner ids that hold a lock, exclusively or shared. Call `check(queue)` before. */
export const holders = luaFunction(unexpired)`
local function holders(lock, shared)
  local owner = redis.call('GET', lock)
  if owner == 'shared' then
    return unexpired(shared)
  end
  return owner and { owner } or {}
end
`;

/**
 * `share(lock, shared, own, n, token, step, last)`: adds n holds with the lease end `last`. Their owner ids are `own` and
 * the tokens from `token`, `step` apart.
 */
export const share = luaFunction(cover, digits, weight)`
local function share(lock, shared, own, n, token, step, last)
  for i = 0, n - 1 do
    redis.call('ZADD', shared, last, own .. digits(token + i * step))
  end
  if weight(own) > 1 then
    redis.call('ZADD', shared, 'inf', '${SEVERAL}')
  end
  cover(lock, shared)
end
`;

/**
 * `note_lapsed(shared)`: notes the instances whose claim leases have expired, before `shared` is deleted. Does nothing if
 * the key is of another type.
 */
export const noteLapsed = luaFunction(live)`
local function note_lapsed(shared)
  local kept = shared and redis.pcall('ZCARD', shared)
  if type(kept) == 'number' and kept > 0 then
    live(shared)
  end
end
`;
