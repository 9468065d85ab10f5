import { setTimeout as sleep } from 'node:timers/promises';
import { list, text } from '../../store/redis/connection/script-reply.js';
import { CHECKED, rightTo } from '../../store/scripts/functions/request.js';
import { trialScript } from '../../store/scripts/trial.script.js';
import { versionError } from '../../store/redis/trial/findings.js';
import { POLLED_INSTEAD } from '../../store/redis/trial/trial.js';
import { clauseOf, error, type Finding, type Findings, ok, skipped, warning } from './finding.js';
import type { Patient } from './patient.js';
import { grantOf, READS } from './rights.js';

/** Milliseconds for a message to arrive, and until an undelivered message is repeated. */
const TIMEOUT = 1_000;
const AGAIN = 200;

/**
 * A script that runs each operation of the lock scripts once and checks the user's rights. It leaves nothing behind.
 */
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
  ask('EVALSHA', '', 1, key)
  ask(subscribe == 'ssubscribe' and 'SPUBLISH' or 'PUBLISH', channel, '')
  ask(subscribe == 'ssubscribe' and 'SSUBSCRIBE' or 'SUBSCRIBE', channel)
end
local added = try('ZADD', key, 'GT', 1, 'trial')
redis.pcall('DEL', key)
local set = try('SET', key, 'trial', 'PXAT', ARGV[3])
redis.pcall('DEL', key)
return { table.concat(missing, ' '), added, set, redis.acl_check_cmd and '1' or '' }
`;

/** Rights without which locks work without messages. */
const DISPENSABLE = /^s?(?:publish|subscribe)$/;

/** Checks whether scripts can run the operations of locks, and whether messages arrive and are counted. */
export async function* checkScripts(patient: Patient): Findings {
  const { channel, key, subscribe } = patient.settings;
  const { db = 0 } = patient.redis.options;
  const soon = String(Date.now() + 60_000);
  let reply: unknown;
  try {
    // The client ignores a refused SELECT when it connects, and continues in database 0.
    if (db > 0) await patient.redis.select(db);
  } catch (reason) {
    yield error('rights', `Locks are kept in database 0 instead of ${db}: ${clauseOf(reason)}.`);
    if (clauseOf(reason).startsWith('NOPERM')) yield error('rights', cureFor(patient));
    return;
  }
  try {
    reply = await patient.redis.eval(PROBE, 1, key, channel, subscribe, soon);
  } catch (reason) {
    const message = clauseOf(reason);
    yield error('rights', `No script can run: ${message}.`);
    if (message.startsWith('NOPERM')) yield error('rights', cureFor(patient));
    return;
  }
  const [missing = '', added = '', set = '', isKnown = ''] = list(reply, 4).map(text);
  const trial = await tryMessages(patient);
  const [, version = '', writes = '', clock = ''] = trial.reply.map(String);
  const old = versionError(version, 'this address');
  if (old) yield error('version', old.message);
  else yield ok('version', version === '' ? 'Its version is unknown.' : `Its version is ${version}.`);
  if (isKnown === '') yield skipped('rights', 'Scripts cannot check the rights of the user.');
  else
    yield* rights(
      missing.split(' ').filter((name) => name !== ''),
      patient,
    );
  yield writesFinding([writes, added, set].find((each) => each !== '' && !each.startsWith('NOPERM')));
  yield clock === ''
    ? ok('time', 'Scripts can read the time.')
    : error('time', `Scripts cannot read the time (${clock}).`);
  yield trial.trouble === undefined
    ? ok('messages', 'A script’s message arrives, and its receivers are counted.')
    : warning('messages', `${trial.trouble}. ${POLLED_INSTEAD}`);
}

function* rights(missing: readonly string[], patient: Patient): Generator<Finding> {
  if (missing.length === 0) {
    yield ok('rights', 'The user has every right that locks need.');
    return;
  }
  for (const name of missing) {
    yield DISPENSABLE.test(name)
      ? warning('rights', `The user may not ${name} on the channels of locks: grant +${name}.`)
      : error('rights', `The user may not run ${name} on the keys of locks: grant +${name}.`);
  }
  const conclude = missing.every((name) => DISPENSABLE.test(name)) ? warning : error;
  yield conclude('rights', cureFor(patient));
}

/** Ends with the command and no full stop, because it is copied. */
function cureFor(patient: Patient): string {
  return `To grant every right that locks need, run in redis-cli: ${grantOf(patient)}`;
}

function writesFinding(refusal: string | undefined): Finding {
  if (refusal === undefined)
    return ok('writes', 'It accepts the writes of locks, including ZADD GT and SET PXAT.');
  return refusal.startsWith('READONLY')
    ? error('writes', 'It is a replica and rejects writes: use the address of its master.')
    : error('writes', `It rejects writes of locks (${refusal}).`);
}

interface Trial {
  readonly reply: readonly unknown[];
  /** Why messages are unreliable; undefined if they are reliable. */
  readonly trouble?: string;
}

/** Runs the trial of an application's connection, with a listener of this command. */
async function tryMessages(patient: Patient): Promise<Trial> {
  const { redis, settings } = patient;
  const heard = await listen(patient);
  const began = performance.now();
  const attempt = async (channel: string, name: string): Promise<unknown[]> =>
    list(await redis.eval(trialScript.lua, 1, settings.key, channel, name), 6);
  if (typeof heard === 'string')
    return { reply: await attempt('', '1'), trouble: `Listening fails there (${heard})` };
  let [name, reply] = ['1', await attempt(settings.channel, '1')];
  if (Number(reply[0]) === 0) {
    await sleep(AGAIN);
    [name, reply] = ['2', await attempt(settings.channel, '2')];
  }
  const receivers = Number(reply[0]);
  if (Number.isNaN(receivers))
    return { reply, trouble: `It does not publish in a script (${String(reply[0])})` };
  if (receivers === 0)
    return { reply, trouble: 'It, or a proxy before it, does not count the receivers of a script’s message' };
  while (!heard.has(`tried ${name}`)) {
    if (performance.now() >= began + TIMEOUT)
      return { reply, trouble: `It has not delivered a script’s message within ${TIMEOUT} ms` };
    await sleep(5);
  }
  return { reply };
}

/** Collects the messages from now on, or returns why none can arrive. */
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
    return clauseOf(reason);
  }
}
