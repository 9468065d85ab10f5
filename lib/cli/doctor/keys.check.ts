import type { Redis } from 'ioredis';
import { literally } from '../../store/redis/scan-names.js';
import { formatDuration } from '../duration.js';
import { clauseOf, error, type Finding, type Findings, ok, skipped, warning } from './finding.js';
import type { Patient } from './patient.js';
import { serverTime } from './times.check.js';

/** Maximum milliseconds of the scan. */
const MAX_DURATION = 5_000;
const PAGE = 200;
/** Maximum number of findings of one kind that are listed. */
const MOST = 5;
/** Milliseconds by which a counter may lead the clock. */
const AHEAD = 1_000;

const OURS = /^\{.+\}(:[qs]|:fence|:done)?$/s;

/** Types of the keys of locks, by their suffix. */
const TYPES: Readonly<Record<string, string>> = {
  '': 'string',
  ':q': 'zset',
  ':s': 'zset',
  ':fence': 'string',
  ':done': 'string',
};

interface Key {
  readonly key: string;
  readonly type: string;
  /** -1: it never expires. */
  readonly expiry: number;
}

/**
 * Finds keys in place of locks that have another type or never expire, and counters of fencing tokens ahead of the
 * clock.
 */
export async function* checkKeys({ redis, settings, isOfCluster }: Patient): Findings {
  const { before } = settings.keySpace;
  const until = performance.now() + MAX_DURATION;
  const [types, forever, fences]: [Key[], Key[], string[]] = [[], [], isOfCluster ? [] : [`${before}fence`]];
  let [cursor, seen, marks] = ['0', 0, 0];
  try {
    do {
      const [next, keys] = await redis.scan(cursor, 'MATCH', `${literally(before)}{*`, 'COUNT', PAGE);
      cursor = next;
      seen += keys.length;
      for (const each of await describe(redis, keys)) {
        const parts = OURS.exec(each.key.slice(before.length));
        if (!parts || each.type === 'none') continue;
        const [, suffix = ''] = parts;
        if (each.type !== TYPES[suffix]) types.push(each);
        else if (each.expiry === -1) forever.push(each);
        if (suffix === ':done') marks += 1;
        if (suffix === ':fence' && each.type === 'string') fences.push(each.key);
      }
    } while (cursor !== '0' && performance.now() < until);
    const part = cursor === '0' ? '' : ' checked; there are more';
    if (types.length + forever.length === 0)
      yield ok(
        'keys',
        `All keys of locks (${seen}${part}) are of the right type, and expire. Kept results of once(): ${marks}.`,
      );
    yield* findings(
      types,
      ({ key, type }) =>
        `${key} is a ${type}, so that lock cannot be acquired: delete the key, or choose another keyPrefix.`,
    );
    yield* findings(
      forever,
      ({ key }) =>
        `${key} never expires, so that lock cannot be acquired: find out who set the key, then delete it.`,
    );
  } catch (reason) {
    yield skipped('keys', `Keys cannot be scanned, which ls and list() also need (${clauseOf(reason)}).`);
  }
  yield* checkFences(redis, fences);
}

async function describe(redis: Redis, keys: readonly string[]): Promise<Key[]> {
  const pipeline = redis.pipeline();
  for (const key of keys) pipeline.type(key).pttl(key);
  const replies = (await pipeline.exec()) ?? [];
  return keys.map((key, i) => {
    const [[failure, type] = [], [late, expiry] = []] = [replies[2 * i], replies[2 * i + 1]];
    if (failure ?? late) throw failure ?? late;
    return { key, type: String(type), expiry: Number(expiry) };
  });
}

function* findings(keys: readonly Key[], sentence: (key: Key) => string): Generator<Finding> {
  for (const key of keys.slice(0, MOST)) yield error('keys', sentence(key));
  if (keys.length > MOST) yield error('keys', `There are ${keys.length - MOST} more such keys.`);
}

async function* checkFences(redis: Redis, fences: readonly string[]): Findings {
  const now = serverTime(await redis.time());
  let found = 0;
  for (const key of fences) {
    const ahead = Number(await redis.get(key).catch(() => 0)) / 1_000 - now;
    if (ahead <= AHEAD) continue;
    found += 1;
    yield warning(
      'fence',
      `${key} is ${formatDuration(ahead)} ahead of the server's clock, which was set back: fencing tokens would repeat if that key were lost before.`,
    );
    if (found === MOST) return;
  }
  if (found === 0) yield ok('fence', 'Fencing tokens follow the clock.');
}
