import { luaFunction } from '../lua-script.js';
import { clock } from './time.js';
import { look } from './tokens.js';

/**
 * `attempt(step, …)`: runs one step of a call; returns the result of `step(…)`, or the error of Redis as the reply to
 * that step alone. Earlier steps keep their replies.
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

/** Arguments of commands for which a server that checks their number expects fewer. */
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

/** Lua code that checks by `ask(command, key, …)` whether the user may run a command; needs a local `key`. */
export function rightTo(command: string, ask: string): string {
  return `${ask}('${command}', ${ARGUMENTS[command] ?? 'key, key, key'})`;
}

/**
 * `check(queue)`: fails if a later command of the script would fail, before the script has written more than one key.
 *
 * No script may fail after a write: Redis reverts nothing, and a lock without an owner could remain. If memory, a
 * replica or a disk is missing, Redis rejects only the first write. A script whose keys are forbidden to the user does
 * not begin. This function covers the rest: it checks that the user may run every command, also after a rename, and
 * that the queue, if given, has the right type.
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

/**
 * `prepare(queue)`: call it before the first write of a script that hands a lock off; fails if the hand-off would fail.
 */
export const prepare = luaFunction(check, look)`
local function prepare(queue)
  check(queue)
  look()
end
`;
