import { luaFunction } from './lua-function.js';

/**
 * `attempt(step, …)`: takes one of a call's steps and returns what `step(…)` returns, or the error by which Redis refuses just
 * that one, as its answer. The steps before it have theirs all the same.
 */
export const attempt = luaFunction()`
local function attempt(step, ...)
  local done, reply = pcall(step, ...)
  if done then
    return reply
  end
  local text = type(reply) == 'table' and reply.err or reply
  return redis.error_reply(string.find(text, '^%u[%u%d]+ ') and text or 'ERR ' .. text)
end
`;
