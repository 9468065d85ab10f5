import { GO_ON, HAND_OFF, MINT, SHARE } from './fragments.js';
import { luaScript } from './lua-script.js';

/**
 * Takes a waiting instance out of the queue. Tells the owner id where the lock had been handed to the
 * instance just before, so that it can be released; shared holds that its turn was granted are given up at once.
 *
 * KEYS  1 fence counter, 2 lock, 3 queue, 4 shared holders
 * ARGV  1 instance, 2 queue member, 3 inbox channel prefix or '' (tell nobody), 4 length of the key prefix
 * Reply the owner id of a grant to this instance, or false
 *
 * Whoever would share the lock and waited only because of this one goes on.
 *
 * O(log n) for n waiting instances.
 */
export const cancelScript = luaScript(
  'cancel',
  `
local fence, lock, queue, shared, inbox, prefix = KEYS[1], KEYS[2], KEYS[3], KEYS[4], ARGV[3], ARGV[4]
${MINT}${SHARE}${HAND_OFF}${GO_ON}
redis.call('ZREM', queue, ARGV[2])
local turn = string.match(ARGV[2], '|%d+|%d+|(%w+)|%d*$')
local owner = redis.call('GET', lock)
if owner == 'shared' then
  local hold = 1
  while turn and redis.call('ZREM', shared, ARGV[1] .. '~' .. turn .. ':' .. hold) == 1 do
    hold = hold + 1
  end
  go_on(lock, queue, shared, live(shared))
elseif owner and not turn and string.sub(owner, 1, #ARGV[1] + 1) == ARGV[1] .. ':' then
  return owner
end
return false
`,
);
