import { GO_ON, HAND_OFF, MINT, SHARE } from './fragments.js';
import { luaScript } from './lua-script.js';

/**
 * Gives shared holds up, and hands what gets free by that to whoever comes next in the queue.
 * Does nothing where there is no such hold any more, so it may be sent twice.
 *
 * KEYS  1 fence counter, then for each: lock, queue, shared holders
 * ARGV  1 inbox channel prefix or '' (tell nobody), 2 length of the key prefix, then for each: owner id
 * Reply for each: 1 released, 0 there was no such hold
 *
 * O(k log n) for k locks with n holders and waiting instances.
 */
export const releaseSharedScript = luaScript(
  'release-shared',
  `
local fence, inbox, prefix = KEYS[1], ARGV[1], ARGV[2]
${MINT}${SHARE}${HAND_OFF}${GO_ON}
local reply = {}
for i = 1, #ARGV - 2 do
  local lock, queue, shared = KEYS[3 * i - 1], KEYS[3 * i], KEYS[3 * i + 1]
  reply[i] = 0
  if redis.call('GET', lock) == 'shared' then
    live(shared)
    reply[i] = redis.call('ZREM', shared, ARGV[i + 2])
    go_on(lock, queue, shared, redis.call('ZCARD', shared))
  end
end
return reply
`,
);
