import { digits } from './digits.js';
import { luaFunction } from './lua-function.js';

/**
 * `cover(lock, shared)`: lets the lock say `shared` for as long as the last of its holders has a lease, so that whoever asks for it
 * alone sees that it is taken without knowing of them. Where that is one by hand-off the holders are kept for a minute longer,
 * so that its end is not missed.
 */
export const cover = luaFunction(digits)`
local function cover(lock, shared)
  local last = redis.call('ZRANGE', shared, -1, -1, 'WITHSCORES')[2]
  local whole, claimed = string.match(last, '^(%d+)(%.?)')
  redis.call('SET', lock, 'shared', 'PXAT', whole)
  redis.call('PEXPIREAT', shared, claimed == '' and whole or digits(whole + 60000))
end
`;
