import { check } from './check.js';
import { look } from './look.js';
import { luaFunction } from './lua-function.js';

/** `prepare(queue)`: to be called before the first write of a script that hands a lock off; it fails where that would. */
export const prepare = luaFunction(check, look)`
local function prepare(queue)
  check(queue)
  look()
end
`;
