import { notify } from './functions/hand-off.js';
import { include } from './functions/lua-function.js';
import { check } from './functions/request.js';
import { clock, digits } from './functions/time.js';
import { luaScript } from './lua-script.js';

/**
 * Keeps the result of a run as the mark of its name, and notifies the waiting instances. Keeps nothing if the owner no
 * longer has the lock, or if another run has left a mark meanwhile. It may be sent twice: a mark with the token of the
 * run is its own.
 *
 * KEYS  1 lock, 2 queue, 3 mark
 * ARGV  1 owner id, 2 fencing token of the run, 3 how long to keep the result in ms, 4 result as JSON, empty for undefined,
 *       5 inbox channel prefix or '' (no messages), 6 length of the key prefix
 * Reply 1 kept, 0 nothing was kept
 *
 * The mark is `<time of the run's end in ms since 1970> <fencing token> <result>`.
 *
 * O(n) for n waiting instances.
 */
export const keepScript = luaScript('keep')`
local lock, queue, done, inbox, prefix = KEYS[1], KEYS[2], KEYS[3], ARGV[5], ARGV[6]
${include(check, clock, digits, notify)}
local mark = redis.call('GET', done)
if mark then
  return string.match(mark, '^%d+ (%d+) ') == ARGV[2] and 1 or 0
end
if redis.call('GET', lock) ~= ARGV[1] then
  return 0
end
check(queue)
local at = digits(math.floor(clock() / 1000))
redis.call('SET', done, at .. ' ' .. ARGV[2] .. ' ' .. ARGV[4], 'PX', ARGV[3])
local notified = {}
for _, place in ipairs(redis.call('ZRANGE', queue, 0, -1)) do
  local instance = string.match(place, '^[^|]+')
  if instance and not notified[instance] then
    notified[instance] = true
    notify(instance, 'done ' .. string.sub(lock, prefix + 2, -2))
  end
end
return 1
`;
