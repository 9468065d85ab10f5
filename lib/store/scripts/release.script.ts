import { notify, serveQueue } from './functions/hand-off.js';
import { attempt, prepare } from './functions/request.js';
import { include, includeBelow, luaScript } from './lua-script.js';

/**
 * Releases locks: hands each to the head of its queue, or deletes it without waiters. Does nothing if the owner no
 * longer has the lock, so it may be sent twice.
 *
 * KEYS  1 fence counter, then for each: lock, queue, and shared holders if this instance has met shared mode.
 * ARGV  1 instance, 2 `<length of the key prefix> <inbox channel prefix, or empty for no messages>`, then for each: token in
 *       the owner id.
 * Reply for each: 1 released, 2 released, and shared waiters were only notified, 0 not the owner's.
 *       The number alone if it is that of all.
 *
 * O(k log n) for k locks with n waiting instances.
 */
export const releaseScript = luaScript('release')`
local fence, instance, n = KEYS[1], ARGV[1] .. ':', #ARGV - 2
local stride = (#KEYS - 1) / n
local locks, queues, are_own = {}, {}, true
for i = 1, n do
  local k = (i - 1) * stride + 2
  locks[i], queues[i] = KEYS[k], KEYS[k + 1]
  are_own = are_own and redis.pcall('GET', KEYS[k]) == instance .. ARGV[i + 2]
end
local prefix, inbox
-- Locks without waiters, and one with an exclusive waiter at the head, skip the functions below: their set-up takes longer.
if are_own and redis.call('EXISTS', unpack(queues)) == 0 then
  redis.call('DEL', unpack(locks))
  return 1
elseif are_own and n == 1 then
  local lock = KEYS[2]
  local head = redis.call('ZRANGE', KEYS[3], 0, 0)[1]
  prefix, inbox = string.match(ARGV[2], '^(%d+) (.*)$')
  local next_one, claim, wanted = string.match(head, '^([^|]+)|(%d+)|(%d+)$')
  if next_one and #fence ~= #lock + #':fence' then
    ${include(notify)}
    -- Redis can reject nothing after this, even when full, except commands on the counter and the inbox.
    redis.call('ZREM', KEYS[3], '')
    local time = redis.pcall('TIME')
    local token = time[1] and time[1] .. string.format('%06d', time[2])
    local used = token and (wanted == '1' and token or string.format('%.0f', token + wanted - 1))
    local last = token and redis.call('SET', fence, used, 'GET')
    local is_ahead = last and (#last > #token or last >= token)
    if token and not is_ahead and notify(next_one, table.concat({ 'granted', token, wanted, claim, string.sub(lock, prefix + 2, -2) }, ' ')) then
      redis.call('SET', lock, next_one .. ':' .. token, 'PX', claim)
      redis.call('ZREM', KEYS[3], head)
      return 1
    elseif token then
      redis.call('SET', fence, last or 0)
    end
  end
end
local function release()
prefix, inbox = string.match(ARGV[2], '^(%d+) (.*)$')
${include(attempt)}
-- Only a lock with a queue needs these functions.
local function release_awaited(lock, queue, shared)
  ${includeBelow([attempt], serveQueue, prepare)}
  prepare(queue)
  return serve_queue(lock, queue, shared, 0) == 'shared' and not shared and 2 or 1
end
local reply = {}
for i = 1, n do
  local lock, queue = locks[i], queues[i]
  local shared = stride == 3 and KEYS[i * stride + 1]
  local owner = redis.pcall('GET', lock)
  if type(owner) == 'table' then
    reply[i] = owner
  elseif owner ~= instance .. ARGV[i + 2] then
    reply[i] = 0
  elseif redis.call('EXISTS', queue) == 1 then
    reply[i] = attempt(release_awaited, lock, queue, shared)
  else
    reply[i] = redis.call('DEL', lock)
  end
end
return reply
end
return release()
`;
