import { CHECKED, rightTo } from './functions/request.js';
import { clock } from './functions/time.js';
import { include, luaScript } from './lua-script.js';

/**
 * Tries what the other scripts rely on. Changes nothing, and never fails as a whole.
 *
 * KEYS  1 an unused key, in the slot of the channel.
 * ARGV  1 channel on which this instance currently listens, or '' (no messages), 2 name of this trial.
 * Reply { receivers, version of the server, why it rejects writes, why the time is unavailable, commands that the user may
 *       not run, maxmemory-policy if it can evict locks }. All are texts and may be empty, except the number of receivers of
 *       a message on the channel. If publishing was rejected, the reason replaces that number.
 *
 * O(1).
 */
export const trialScript = {
  ...luaScript('trial')`
${include(clock)}
local key, missing = KEYS[1], {}
local function refusal(reply)
  return type(reply) == 'table' and reply.err or tostring(reply)
end
local receivers = 0
if ARGV[1] ~= '' then
  local publish = string.find(ARGV[1], '{', 1, true) and 'SPUBLISH' or 'PUBLISH'
  receivers = redis.pcall(publish, ARGV[1], 'tried ' .. ARGV[2])
end
local version = redis.REDIS_VERSION
if not version then
  local info = redis.pcall('INFO', 'server')
  version = type(info) == 'string' and string.match(info, 'redis_version:(%S+)') or ''
end
local policy = ''
local has_info, may_read = pcall(redis.acl_check_cmd, 'INFO', 'memory')
if not redis.acl_check_cmd or has_info and may_read then
  local memory = redis.pcall('INFO', 'memory')
  if type(memory) == 'string' and string.match(memory, 'maxmemory:(%d+)') ~= '0' then
    policy = string.match(memory, 'maxmemory_policy:([%w-]+)') or ''
  end
end
local removed = redis.pcall('DEL', key)
local has_clock, problem = pcall(clock)
local function ask(command, ...)
  local is_known, may_run = pcall(redis.acl_check_cmd, command, ...)
  if not (is_known and may_run) then
    missing[#missing + 1] = command
  end
end
if redis.acl_check_cmd then
  ${CHECKED.map((command) => rightTo(command, 'ask')).join('\n  ')}
end
return {
  type(receivers) == 'number' and receivers or refusal(receivers),
  version,
  type(removed) == 'number' and '' or refusal(removed),
  has_clock and '' or refusal(problem),
  table.concat(missing, ', '),
  policy ~= 'noeviction' and policy or '',
}
`,
  isRare: true,
};
