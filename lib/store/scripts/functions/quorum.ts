import { notify } from './hand-off.js';
import { include, joined, luaFunction, luaScript, type LuaScript, type LuaTag } from '../lua-script.js';
import { attempt, check } from './request.js';
import { clock, digits } from './time.js';

/**
 * `grant_of(instance, owner)`: the grant of this instance in a lock, which is the number at the end of the owner id.
 * It is 0 for a reservation for the instance, and nil if the lock is free or has another owner.
 */
export const grantOf = luaFunction()`
local function grant_of(instance, owner)
  if owner and string.sub(owner, 1, #instance + 1) == instance .. ':' then
    return tonumber(string.sub(owner, #instance + 2))
  end
end
`;

/**
 * `join(queue, place)`: adds a waiting instance to the node's queue. The queue outlives its last refresh by a minute,
 * so that a crashed application leaves nothing permanently.
 *
 * Places are `<instance>|<microseconds>`, with the time of the first request of the wait, which is equal on all nodes,
 * so that they agree on the order. If a place lies in the future, the clocks were set back since, and the node uses the
 * order of its requests.
 */
export const join = luaFunction(check, clock, digits)`
local function join(queue, place)
  check()
  local instance, since = string.match(place, '^(.*)|(%d+)$')
  local newest = tonumber(redis.call('ZRANGE', queue, -1, -1, 'WITHSCORES')[2]) or 0
  since = tonumber(since)
  if since < newest and newest > clock() + 1000000 then
    since = tonumber(redis.call('ZSCORE', queue, instance)) or newest + 1
  end
  redis.call('ZADD', queue, digits(since), instance)
  redis.call('PEXPIRE', queue, 60000)
end
`;

/**
 * `reserve(lock, queue, claim_ttl, name)`: reserves a free lock for the first listening instance in the queue, and
 * notifies it. Does nothing without a listening waiter.
 *
 * The place of an instance that is gone passes to the next one. Without the reservation, the releasing instance would
 * always be the first to ask again.
 */
export const reserve = luaFunction(notify)`
local function reserve(lock, queue, claim_ttl, name)
  while true do
    local instance = redis.call('ZRANGE', queue, 0, 0)[1]
    if not instance then
      return
    end
    redis.call('ZREM', queue, instance)
    if notify(instance, 'released ' .. name) then
      redis.call('SET', lock, instance .. ':0', 'PX', claim_ttl)
      return
    end
  end
end
`;

/**
 * Creates a script for several requests from a script for one: three keys for each request, and the number of arguments
 * before them. Replies are in the order of the requests, with errors for refused ones.
 */
export function luaScriptForEach(name: string): LuaTag<LuaScript> {
  return (...text) => ({
    ...luaScript(name)`${include(attempt)}
local function one(KEYS, ARGV)
${joined(...text)}
end
local reply, at = {}, 1
for i = 1, #KEYS / 3 do
  local last = at + ARGV[at]
  reply[i] = attempt(one, { unpack(KEYS, 3 * i - 2, 3 * i) }, { unpack(ARGV, at + 1, last) })
  at = last + 1
end
return reply
`,
    takesSeveral: true,
  });
}
