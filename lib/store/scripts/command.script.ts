import { luaScript } from './lua-script.js';

/**
 * Runs one command of Redis. As a script, it has the route, the order and the time limit of all other requests. An error
 * is that of Redis, with the missing right before it if the user may not run the command.
 *
 * KEYS  1 any key; on a Cluster, it selects the node.
 * ARGV  the command and its arguments.
 * Reply of the command, or its error.
 *
 * O(n) for SCAN of n keys, O(1) for a message to an instance that listens once.
 */
export const commandScript = luaScript('command')`
local reply = redis.pcall(unpack(ARGV))
-- Redis 7.0 does not say which command of a script the user may not run.
if type(reply) == 'table' and reply.err and string.find(reply.err, ' run ', 1, true) then
  return redis.error_reply('NOPERM ' .. ARGV[1] .. ' takes the right +' .. string.lower(ARGV[1]) .. ': ' .. reply.err)
end
return reply
`;
