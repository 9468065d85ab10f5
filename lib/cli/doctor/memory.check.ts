import { error, type Findings, ok, skipped, warning } from './finding.js';
import type { Patient } from './patient.js';

/** Checks whether the server evicts locks. */
export async function* checkEviction(patient: Patient): Findings {
  const memory = await patient.info('memory');
  const policy = memory.get('maxmemory_policy');
  if (policy === undefined) {
    yield skipped('eviction', 'Its maxmemory-policy is unknown.');
    return;
  }
  const means = `Its maxmemory-policy is ${policy}, which evicts locks`;
  if (policy === 'noeviction')
    yield ok('eviction', 'It evicts no locks: its maxmemory-policy is noeviction.');
  else if (memory.get('maxmemory') === '0')
    yield warning('eviction', `${means} as soon as a maxmemory is set: set noeviction.`);
  else
    yield error(
      'eviction',
      `${means} when memory is short: set noeviction, or use a separate Redis for locks.`,
    );
  const evicted = Number((await patient.info('stats')).get('evicted_keys') ?? 0);
  if (evicted === 0) return;
  yield warning(
    'eviction',
    `It has evicted ${evicted} keys since its start; locks may have been among them.`,
  );
}

/** Checks whether a restart loses locks. */
export async function* checkPersistence(patient: Patient): Findings {
  const persistence = await patient.info('persistence');
  const aof = persistence.get('aof_enabled');
  if (aof === undefined) {
    yield skipped('persistence', 'Its persistence is unknown.');
    return;
  }
  const save = aof === '1' ? undefined : await configured(patient, 'save');
  if (aof === '1') yield ok('persistence', 'A restart keeps locks: it has an append-only file.');
  else yield warning('persistence', `${forgottenWith(save)}: set appendonly.`);
  for (const field of ['aof_last_write_status', 'rdb_last_bgsave_status']) {
    if ((persistence.get(field) ?? 'ok') !== 'ok')
      yield error(
        'persistence',
        `Its last attempt to write its data failed (${field}): check its log and its disk.`,
      );
  }
}

function forgottenWith(save: string | undefined): string {
  if (save === undefined) return 'Without an append-only file, a restart loses the latest locks';
  return save === ''
    ? 'A restart loses all locks'
    : `A crash loses the locks since the last snapshot (save ${save})`;
}

/** Reads a setting; undefined if the user lacks the right. */
async function configured({ redis }: Patient, name: string): Promise<string | undefined> {
  try {
    const reply: unknown = await redis.call('CONFIG', 'GET', name);
    // The client's version decides whether this is a pair in a list, or an object.
    const value: unknown = Array.isArray(reply) ? reply[1] : Reflect.get(Object(reply) as object, name);
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}
