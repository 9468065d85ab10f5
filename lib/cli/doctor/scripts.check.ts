import { list, text } from '../../store/redis/connection/script-reply.js';
import { CHECKED, rightTo } from '../../store/scripts/functions/check.js';
import { trialScript } from '../../store/scripts/trial.script.js';
import { versionError } from '../../store/redis/trial/findings.js';
import { POLLED_INSTEAD } from '../../store/redis/trial/trial.js';
import { error, type Finding, ok, skipped, warning } from './finding.js';
import type { Patient } from './patient.js';

/** Milliseconds that a message may take, and until one that nobody got is sent again. */
const PATIENCE = 1_000;
const AGAIN = 200;

/** Beside those that the trial of each connection asks for. */
const READS = ['GET', 'MGET', 'ZCARD'];

/** What the scripts of locks do, once, and which rights the user has. Leaves nothing behind. */
const PROBE = `
local key, channel, subscribe, missing = KEYS[1], ARGV[1], ARGV[2], {}
local function ask(command, ...)
  local is_known, may_run = pcall(redis.acl_check_cmd, command, ...)
  if not (is_known and may_run) then missing[#missing + 1] = string.lower(command) end
end
local function try(...)
  local reply = redis.pcall(...)
  return type(reply) == 'table' and reply.err or ''
end
if redis.acl_check_cmd then
  ${CHECKED.map((command) => rightTo(command, 'ask')).join('\n  ')}
  ${READS.map((command) => `ask('${command}', key)`).join('\n  ')}
  ask('TIME')
  ask(subscribe == 'ssubscribe' and 'SPUBLISH' or 'PUBLISH', channel, '')
  ask(subscribe == 'ssubscribe' and 'SSUBSCRIBE' or 'SUBSCRIBE', channel)
end
local added = try('ZADD', key, 'GT', 1, 'trial')
redis.pcall('DEL', key)
local set = try('SET', key, 'trial', 'PXAT', ARGV[3])
redis.pcall('DEL', key)
return { table.concat(missing, ' '), added, set, redis.acl_check_cmd and '1' or '' }
`;

/** Rights without which locks work all the same, and what is missing then. */
const DISPENSABLE = /^s?(?:publish|subscribe)$/;

/** Whether scripts can do there what locks need, and whether messages arrive and are counted. */
export async function checkScripts(patient: Patient): Promise<Finding[]> {
  const { channel, key, subscribe } = patient.settings;
  const { redis } = patient;
  const soon = String(Date.now() + 60_000);
  let reply: unknown;
  try {
    reply = await redis.eval(PROBE, 1, key, channel, subscribe, soon);
  } catch (reason) {
    return [error('rights', `No script of locks can run: ${messageOf(reason)}.`)];
  }
  const [missing = '', added = '', set = '', isKnown = ''] = list(reply, 4).map(text);
  const trial = await tryMessages(patient);
  const [, version = '', writes = '', clock = ''] = trial.reply.map(String);
  const old = versionError(version, 'this address');
  return [
    old
      ? error('version', old.message)
      : ok('version', version === '' ? 'It does not tell its version.' : `It is of version ${version}.`),
    ...(isKnown === '' ? [skipped('rights', 'It does not tell scripts of rights.')] : rights(missing)),
    ...writesFindings([writes, added, set].filter((each) => !each.startsWith('NOPERM'))),
    clock === ''
      ? ok('time', 'Scripts can ask it for the time.')
      : error('time', `Scripts cannot ask it for the time (${clock}).`),
    trial.finding,
  ];
}

function rights(missing: string): Finding[] {
  const names = missing.split(' ').filter((name) => name !== '');
  const [needed, wanted] = [
    names.filter((name) => !DISPENSABLE.test(name)),
    names.filter((name) => DISPENSABLE.test(name)),
  ];
  return [
    ...(names.length === 0 ? [ok('rights', 'The user has every right that locks need.')] : []),
    ...needed.map((name) =>
      error('rights', `The user may not run ${name} on the keys of locks: grant +${name}.`),
    ),
    ...wanted.map((name) =>
      warning('rights', `The user may not ${name} on the channels of locks: grant +${name}.`),
    ),
  ];
}

function writesFindings(refusals: readonly string[]): Finding[] {
  const [refusal = ''] = refusals.filter((each) => each !== '');
  if (refusal === '') return [ok('writes', 'It takes the writes of locks, ZADD GT and SET PXAT included.')];
  return refusal.startsWith('READONLY')
    ? [error('writes', 'It is a replica and takes no writes: let the address lead to its master.')]
    : [error('writes', `It refuses writes of locks (${refusal}).`)];
}

/** The trial that each connection of an application makes, with a listener of our own. */
async function tryMessages(
  patient: Patient,
): Promise<{ readonly reply: readonly unknown[]; readonly finding: Finding }> {
  const heard = await listen(patient);
  const began = performance.now();
  const attempt = async (name: string): Promise<unknown[]> => {
    const channel = typeof heard === 'string' ? '' : patient.settings.channel;
    return list(await patient.redis.eval(trialScript.lua, 1, patient.settings.key, channel, name), 5);
  };
  const first = await attempt('1');
  if (typeof heard === 'string')
    return { reply: first, finding: polled(`Nobody can listen there (${heard})`) };
  const isCounted = Number(first[0]) !== 0;
  if (!isCounted) await wait(AGAIN);
  const [reply, message] = isCounted ? [first, 'tried 1'] : [await attempt('2'), 'tried 2'];
  const receivers = Number(reply[0]);
  if (Number.isNaN(receivers))
    return { reply, finding: polled(`It refuses to publish in a script (${String(reply[0])})`) };
  if (receivers === 0)
    return { reply, finding: polled('It, or a proxy before it, counts nobody who got a script’s message') };
  while (!heard.has(message) && performance.now() < began + PATIENCE) await wait(5);
  return heard.has(message)
    ? { reply, finding: ok('messages', 'A script’s message arrives, and whoever gets it is counted.') }
    : { reply, finding: polled(`It has not delivered a script’s message within ${PATIENCE} ms`) };
}

/** The messages that come from now on, or why none can. */
async function listen(patient: Patient): Promise<ReadonlySet<string> | string> {
  const { channel, subscribe } = patient.settings;
  const heard = new Set<string>();
  try {
    const listener = await patient.beside();
    for (const event of ['message', 'smessage'])
      listener.on(event, (_: string, message: string) => heard.add(message));
    await listener[subscribe](channel);
    return heard;
  } catch (reason) {
    return messageOf(reason);
  }
}

function polled(reason: string): Finding {
  return warning('messages', `${reason}. ${POLLED_INSTEAD}`);
}

async function wait(delay: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, delay));
}

export function messageOf(reason: unknown): string {
  return (reason instanceof Error ? reason.message : String(reason)).replace(/ script: .*$|\.$/s, '');
}
