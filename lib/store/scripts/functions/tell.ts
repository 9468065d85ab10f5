import { luaFunction } from './lua-function.js';

/** At the end of the prefix of the channels where it is not known whether the server counts receivers as it should. */
export const UNTRIED = '?';

/**
 * `tell(instance, message)`: whether anybody may have heard. Reads `inbox`, the prefix of the instances' channels.
 *
 * An inbox with a hash tag is heard in the slot of the lock (in a Cluster), hence SPUBLISH. Publishing counts the receivers:
 * none means that the instance is gone. Where nobody has tried whether it does, with `?` behind the prefix, with an empty
 * `inbox`, by which nobody is told, or where publishing is refused, the instance counts as alive: it finds its grant when it
 * asks again, or its lease runs out.
 */
export const tell = luaFunction()`
local function tell(instance, message)
  local publish = string.find(inbox, '{', 1, true) and 'SPUBLISH' or 'PUBLISH'
  local channels, untried = string.gsub(inbox, '%?$', '')
  local receivers = inbox == '' or redis.pcall(publish, channels .. instance, message)
  return type(receivers) ~= 'number' or receivers > 0 or untried > 0
end
`;
