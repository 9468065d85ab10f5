import { clock } from './clock.js';
import { luaFunction } from './lua-function.js';

/**
 * `rank(queue, place)`: where a waiting instance stands in a node's queue, and which it is.
 *
 * Places are `<instance>|<microseconds>`, where the time is that of the first request of this wait: it is the same on all nodes,
 * so they agree on the order. Where somebody came in the future, the clocks were set back since, and the node goes by the
 * order in which it was asked.
 */
export const rank = luaFunction(clock)`
local function rank(queue, place)
  local instance, since = string.match(place, '^(.*)|(%d+)$')
  local newest = tonumber(redis.call('ZRANGE', queue, -1, -1, 'WITHSCORES')[2]) or 0
  since = tonumber(since)
  if since < newest and newest > clock() + 1000000 then
    since = tonumber(redis.call('ZSCORE', queue, instance)) or newest + 1
  end
  return since, instance
end
`;
