import { call } from './call.js';
import { cover } from './cover.js';
import { ends } from './ends.js';
import { luaFunction } from './lua-function.js';

/**
 * `reserve(lock, queue, fence, shared, inbox, claim_ttl, name, reading)`: reserves a free lock for the first waiting instance that listens,
 * and tells it; returns the reservation, or nil when nobody waits who could have it.
 *
 * A lock that is to be shared is reserved for all of those at the head of the queue who would share it, by a hold `<instance>:0`
 * for each, and each is told. `reading` says that it is shared already: then only for them.
 *
 * PUBLISH counts its receivers: none means that the instance is gone, so its place goes to the next. Without the reservation the
 * instance that has just released would always be the first to ask again.
 */
export const reserve = luaFunction(call, cover, ends)`
local function reserve(lock, queue, fence, shared, inbox, claim_ttl, name, reading)
  local reserved
  while true do
    local place = redis.call('ZRANGE', queue, 0, 0)[1]
    local instance = place and string.match(place, '^[^|]*')
    local alone = place == instance
    if not place or alone and (reading or reserved) then
      return reserved
    end
    redis.call('ZREM', queue, place)
    local message = 'released ' .. (redis.call('GET', fence) or '0') .. ' ' .. name
    if call(inbox .. instance, message) then
      if alone then
        redis.call('SET', lock, instance .. ':0', 'PX', claim_ttl)
        return instance .. ':0'
      end
      if not reading and not reserved then
        redis.call('DEL', shared)
      end
      redis.call('ZADD', shared, ends(tonumber(claim_ttl)), instance .. ':0')
      cover(lock, shared)
      reserved = 'shared'
    end
  end
end
`;
