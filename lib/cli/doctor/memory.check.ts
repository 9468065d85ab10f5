import { error, type Finding, ok, skipped, warning } from './finding.js';
import type { Patient } from './patient.js';

/** Whether the server forgets locks to save memory. */
export async function checkEviction(patient: Patient): Promise<Finding[]> {
  const memory = await patient.info('memory');
  const policy = memory.get('maxmemory_policy');
  const evicted = await patient.number('stats', 'evicted_keys');
  if (policy === undefined) return [skipped('eviction', 'It does not tell its maxmemory-policy.')];
  const some = evicted === undefined || evicted === 0 ? [] : [forgotten(evicted)];
  if (policy === 'noeviction')
    return [ok('eviction', 'It forgets no lock to save memory: noeviction.'), ...some];
  const means = `Its maxmemory-policy is ${policy}, which forgets locks`;
  return memory.get('maxmemory') === '0'
    ? [warning('eviction', `${means} once a maxmemory is set: set noeviction.`), ...some]
    : [
        error(
          'eviction',
          `${means} when memory is short: set noeviction, or give locks a Redis of their own.`,
        ),
        ...some,
      ];
}

function forgotten(evicted: number): Finding {
  return warning(
    'eviction',
    `It has evicted ${evicted} keys since it was started; locks may have been among them.`,
  );
}

/** Whether a restart forgets locks. */
export async function checkPersistence(patient: Patient): Promise<Finding[]> {
  const persistence = await patient.info('persistence');
  const aof = persistence.get('aof_enabled');
  if (aof === undefined) return [skipped('persistence', 'It does not tell how it keeps its data.')];
  const broken = ['aof_last_write_status', 'rdb_last_bgsave_status'].filter(
    (field) => (persistence.get(field) ?? 'ok') !== 'ok',
  );
  const failed = broken.map((field) =>
    error(
      'persistence',
      `It could not write its data the last time (${field}): look at its log and its disk.`,
    ),
  );
  if (aof === '1')
    return [ok('persistence', 'A restart keeps locks: it has an append-only file.'), ...failed];
  const save = await configured(patient, 'save');
  if (save === undefined)
    return [
      warning(
        'persistence',
        'Without an append-only file a restart forgets the latest locks: set appendonly.',
      ),
      ...failed,
    ];
  return [
    save === ''
      ? warning('persistence', 'A restart forgets all locks: set appendonly.')
      : warning(
          'persistence',
          `A crash forgets the locks since the last snapshot (save ${save}): set appendonly.`,
        ),
    ...failed,
  ];
}

/** Undefined where the user may not ask. */
async function configured({ redis }: Patient, name: string): Promise<string | undefined> {
  try {
    const reply: unknown = await redis.call('CONFIG', 'GET', name);
    // A pair in a list, or an object, as the client's version has it.
    const value: unknown = Array.isArray(reply) ? reply[1] : Reflect.get(Object(reply) as object, name);
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}
