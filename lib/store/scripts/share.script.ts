import { ends } from './functions/ends.js';
import { handOff } from './functions/hand-off.js';
import { live } from './functions/live.js';
import { mintShares } from './functions/mint-shares.js';
import { prepare } from './functions/prepare.js';
import { share } from './functions/share.js';
import { include } from './functions/lua-function.js';
import { luaScript } from './lua-script.js';

/**
 * Makes shared holds of the lock that an instance has alone, and lets those in who would share it and come next in the queue.
 *
 * KEYS  1 fence counter, 2 lock, 3 queue, 4 shared holders
 * ARGV  1 owner id that has the lock alone, 2 inbox channel prefix or '' (tell nobody), 3 length of the key prefix,
 *       4 ttl in ms, 5 holds wanted, 6 turn
 * Reply { first token, holds or `<holds>/<tokens>` }, or false where the lock is neither the owner's nor the turn's
 *
 * Asked twice, it finds the same holds, with tokens anew, and leaves their leases alone: by then one may have been shortened. So a
 * request that arrives late does nothing.
 *
 * O(h log n) for h holds and n waiting instances.
 */
export const shareScript = luaScript('share')`
local fence, lock, queue, shared, inbox, prefix = KEYS[1], KEYS[2], KEYS[3], KEYS[4], ARGV[2], ARGV[3]
${include(mintShares, live, ends, share, handOff, prepare)}
local turn = string.match(ARGV[1], '^(.*):%d+$') .. '~' .. ARGV[6]
local owner, n = redis.call('GET', lock), 0
prepare(queue)
if owner == ARGV[1] then
  n = tonumber(ARGV[5])
elseif owner == 'shared' and live(shared) > 0 then
  while redis.call('ZSCORE', shared, turn .. ':' .. n + 1) do
    n = n + 1
  end
end
if n == 0 then
  return false
end
local token, _, holds = mint_shares(ARGV[6], n)
if owner == ARGV[1] then
  redis.call('DEL', shared)
  share(lock, shared, turn, n, ends(tonumber(ARGV[4])))
  hand_off(lock, queue, nil, shared, n)
end
return { token, holds }
`;
