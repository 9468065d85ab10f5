import { include } from './functions/lua-function.js';
import { passEach } from './functions/hand-off.js';
import { luaScript } from './lua-script.js';

/**
 * Releases the locks of a joint grant that it still has: hands each to the head of its queue, or deletes it without
 * waiters. May be sent twice.
 *
 * KEYS  1 fence counter, then all locks, then all queues, then all shared holders if this instance has met shared mode
 * ARGV  1 owner id up to the token, 2 `<length of the key prefix> <inbox channel prefix, or empty for no messages>`, 3 how many
 *       locks
 * Reply the number of locks if all of them could be deleted, else for each the reply of the release script
 *
 * O(k log n) for k locks with n waiting instances.
 */
export const releaseAllScript = luaScript('release-all')`
local fence, own, n = KEYS[1], ARGV[1], tonumber(ARGV[3])
local known
local owners, owned = redis.call('MGET', unpack(KEYS, 2, n + 1)), 0
for i = 1, n do
  local owner = owners[i]
  if owner == known or owner and string.sub(owner, 1, #own) == own then
    known, owned = owner, owned + 1
  else
    owners[i] = false
  end
end
if owned == n and redis.call('EXISTS', unpack(KEYS, n + 2, 2 * n + 1)) == 0 then
  return redis.call('DEL', unpack(KEYS, 2, n + 1))
end
local function release_all()
local prefix, inbox = string.match(ARGV[2], '^(%d+) (.*)$')
${include(passEach)}
local reply = {}
for i = 1, n do
  local lock, queue = KEYS[i + 1], KEYS[i + 1 + n]
  if not owners[i] then
    reply[i] = 0
  elseif redis.call('EXISTS', queue) == 1 then
    reply[i] = attempt(pass_each, lock, queue, KEYS[i + 1 + 2 * n])
  else
    reply[i] = redis.call('DEL', lock)
  end
end
return reply
end
return release_all()
`;
