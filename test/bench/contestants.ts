import type { ContestantDefinition } from './contestant.js';

/** The adapters in the order of the tables. Loaded one by one, so that a peer that cannot be loaded fails alone. */
export const CONTESTANT_IDS = [
  'ours',
  'ours-node-redis',
  'redis-semaphore',
  'redlock',
  'redlock-universal',
  'sesamecare-redlock',
  'node-redisson',
  'simple-redis-mutex',
  'nestjs-redlock-universal',
  'anchan828-nest-redlock',
  'plain-floor',
  'corked-floor',
  'async-mutex',
] as const;

export const PEER_IDS = CONTESTANT_IDS.slice(2, 10);

/** Those that run work once and share its result; the last ones take part in no other case. */
export const ONCE_IDS: readonly string[] = [
  'ours',
  'ours-node-redis',
  'once-by-hand',
  'bentocache',
  'cacheable',
];

/** The lower limit of a burst; it keeps no result. */
export const ONCE_FLOOR = 'once-floor';

/** One of each kind, for cases that are about ours: polling, retries with jitter, pub/sub. */
export const REPRESENTATIVES: readonly string[] = [
  'ours',
  'ours-node-redis',
  'redis-semaphore',
  'redlock',
  'simple-redis-mutex',
];

/** @throws Error when the package of the peer cannot be loaded here */
export async function loadContestant(id: string): Promise<ContestantDefinition> {
  const { contestant } = (await import(`./adapters/${id}.adapter.js`)) as {
    contestant: ContestantDefinition;
  };
  return contestant;
}
