import { cover } from './cover.js';
import { luaFunction } from './lua-function.js';

/**
 * `share(lock, shared, turn, n, last)`: adds the n holds of `<instance>~<turn>`, up to the end `last`. One that is there already
 * keeps a longer lease, for a request may arrive once more when its turn has long begun.
 */
export const share = luaFunction(cover)`
local function share(lock, shared, turn, n, last)
  for i = 1, n do
    redis.call('ZADD', shared, 'GT', last, turn .. ':' .. i)
  end
  cover(lock, shared)
end
`;
