import { notify, serveQueue } from './functions/hand-off.js';
import { prepare } from './functions/request.js';
import { clock, digits } from './functions/time.js';
import { include, luaScript } from './lua-script.js';

/**
 * Keeps the result of a run as the mark of its name, notifies the waiting instances, and releases the lock. Keeps nothing
 * if the owner no longer has the lock, or if another run has left a mark meanwhile. It may be sent twice: a mark with the
 * token of the run is its own.
 *
 * KEYS  1 fence counter, 2 lock, 3 queue, 4 shared holders, 5 mark.
 * ARGV  1 owner id, 2 fencing token of the run, 3 how long to keep the result in ms, 4 result as JSON, empty for undefined.
 *       5 `<length of the key prefix> <inbox channel prefix, or empty for no messages>`,
 *       6 `release`, or `hold` for a run whose hold continues.
 * Reply 1 kept, 0 nothing was kept and nothing released.
 *
 * The mark is `<time of the run's end in ms since 1970> <fencing token> <result>`.
 *
 * O(n) for n waiting instances.
 */
export const keepScript = luaScript('keep')`
local fence, lock, queue, shared, done = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local prefix, inbox = string.match(ARGV[5], '^(%d+) (.*)$')
${include(prepare, clock, digits, notify, serveQueue)}
local mark = redis.call('GET', done)
local is_own = redis.call('GET', lock) == ARGV[1]
if mark and string.match(mark, '^%d+ (%d+) ') ~= ARGV[2] or not mark and not is_own then
  return 0
end
prepare(queue)
if not mark then
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
end
-- Waiters of a result learn of it before one of them is granted the lock.
if is_own and ARGV[6] == 'release' then
  serve_queue(lock, queue, shared, 0)
end
return 1
`;
