import { ends } from './ends.js';
import { luaFunction } from './lua-function.js';

/** `claim_ends(ttl)`: the same of a lease by hand-off, half a millisecond later until its instance has renewed it. */
export const claimEnds = luaFunction(ends)`
local function claim_ends(ttl)
  return ends(ttl) .. '.5'
end
`;
