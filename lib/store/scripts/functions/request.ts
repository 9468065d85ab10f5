import { luaFunction } from './lua-function.js';
import { clock } from './time.js';
import { look } from './tokens.js';

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

/** Of these a server that counts arguments takes fewer than the others. */
const ARGUMENTS: Readonly<Record<string, string>> = { PTTL: 'key', ZSCORE: 'key, key' };

export const CHECKED = [
  'SET',
  'DEL',
  'EXISTS',
  'PTTL',
  'PEXPIRE',
  'PEXPIREAT',
  'ZADD',
  'ZREM',
  'ZPOPMIN',
  'ZRANGE',
  'ZSCORE',
];

/** Lua that asks with `ask(command, key, …)` whether the user may run a command; needs a local `key`. */
export function rightTo(command: string, ask: string): string {
  return `${ask}('${command}', ${ARGUMENTS[command] ?? 'key, key, key'})`;
}

/**
 * `check(queue)`: fails, before more is written than one key, where a later command of the script would.
 *
 * No script may fail once it has written: Redis takes back nothing, and what is left could be a lock that nobody has. For want of
 * memory, of a replica or of a disk it refuses the first write only, and a script whose keys a user may not reach does not
 * begin. This sees to the rest: that the user may run every command, which may have been renamed, too; and that the queue,
 * if it is given, is one.
 */
export const check = luaFunction(clock)`
local is_checked
local function check(queue)
  clock()
  if queue then
    redis.call('ZCARD', queue)
  end
  local may_run, key = redis.acl_check_cmd, KEYS[1]
  if is_checked or not may_run then
    return
  end
  local is_known, may_run_all = pcall(function()
    return ${CHECKED.map((command) => rightTo(command, 'may_run')).join(' and ')}
  end)
  if not (is_known and may_run_all) then
    error(redis.error_reply('NOPERM The user may not run all of ${CHECKED.join(', ')}, or one of them was renamed'))
  end
  is_checked = true
end
`;

/** `prepare(queue)`: to be called before the first write of a script that hands a lock off; it fails where that would. */
export const prepare = luaFunction(check, look)`
local function prepare(queue)
  check(queue)
  look()
end
`;
