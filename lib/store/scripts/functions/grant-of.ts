import { luaFunction } from './lua-function.js';

/**
 * `grant_of(instance, owner)`: which grant of this instance a lock is: the number at the end of the owner id, 0 for a free lock
 * that is reserved for the instance, nil where the lock is somebody else's or free.
 */
export const grantOf = luaFunction()`
local function grant_of(instance, owner)
  if owner and string.sub(owner, 1, #instance + 1) == instance .. ':' then
    return tonumber(string.sub(owner, #instance + 2))
  end
end
`;
