import { LockConfigError } from '../../errors/lock.error.js';
import type { ResolvedLockOptions } from '../lock-options.interface.js';
import type { ResolvedModuleOptions } from '../module-options.interface.js';
import { isClusterClient, isClusterConnection, isNodeRedis } from './cluster-option.js';
import { MEMORY } from './connection-option.js';
import { isQuorum } from './quorum-option.js';

type Target = Pick<ResolvedModuleOptions, 'connection' | 'layout'>;

/** What rejects options, by their name in messages. */
const IS = {
  "advanced.layout: 'per-name'": ({ layout, connection }: Target) =>
    layout === 'per-name' && !isClusterConnection(connection),
  "connection: 'memory'": ({ connection }: Target) => connection === MEMORY,
  'a quorum': ({ connection }: Target) => isQuorum(connection),
  'a Redis Cluster': ({ connection }: Target) => isClusterConnection(connection),
  'a client of node-redis': ({ connection }: Target) => [connection].flat().some(isNodeRedis),
  'a client that is passed in': ({ connection }: Target) => [connection].flat().some(isClient),
  'a password in connection': ({ connection }: Target) => [connection].flat().some(hasPassword),
};

function isClient(connection: unknown): boolean {
  return connection instanceof Object && ('evalsha' in connection || isClusterClient(connection));
}

function hasPassword(connection: unknown): boolean {
  if (typeof connection === 'string') return URL.canParse(connection) && new URL(connection).password !== '';
  if (typeof connection !== 'object' || connection === null) return false;
  const { password, nodes, options } = connection as {
    password?: unknown;
    nodes?: unknown;
    options?: object;
  };
  if (typeof password === 'string' && password !== '') return true;
  if (Array.isArray(nodes) && nodes.some(hasPassword)) return true;
  return hasPassword(Reflect.get(options ?? {}, 'redisOptions'));
}

type Kind = keyof typeof IS;

/** What rejects an option or a call, each with the end of its message: why, and what to do. */
const REJECTED = {
  replicas: {
    "advanced.layout: 'per-name'": ', where no connection leads to one server. Remove one of them.',
    "connection: 'memory'": ', which has no replicas. Leave it out, or set replicas.min to 0.',
    'a quorum': ', where a majority of independent servers knows every lock. Leave it out.',
    'a Redis Cluster': '. Remove it, or keep these locks on one master with replicas.',
  },
  "mode: 'shared'": {
    'a quorum':
      ', where a majority grants exclusive locks only. Leave it out, or keep these locks on one Redis.',
  },
  "advanced.wake: 'poll'": { 'a quorum': ', where the nodes notify waiters of a release. Leave it out.' },
  "advanced.layout: 'per-name'": {
    'a quorum': ', where each node keeps a lock in one slot anyway. Leave it out.',
  },
  credentials: {
    "connection: 'memory'": ', where no server requests them. Leave them out.',
    'a client of node-redis': ': give that client a credentialsProvider instead.',
    'a client that is passed in':
      ': give them to that client, or pass a URL or options to connection instead.',
    'a password in connection': ': remove one of them.',
  },
  'list()': {
    "advanced.layout: 'per-name'":
      ', where no request reaches all shards. Scan the keys of each shard instead.',
  },
} satisfies Readonly<Record<string, Partial<Record<Kind, string>>>>;

/** Rejects an option of the module or of an acquire, or a call, that cannot work there. */
export function assertCombines(option: keyof typeof REJECTED, target: Target): void {
  for (const [kind, why] of Object.entries(REJECTED[option]))
    if (IS[kind as Kind](target))
      throw new LockConfigError(`${option} cannot be combined with ${kind}${why}`);
}

/** Rejects options of an acquire that cannot work there. */
export function assertLockOptionsGoWith(
  target: Target,
  { replicas, mode }: Pick<ResolvedLockOptions, 'replicas' | 'mode'>,
): void {
  if (replicas) assertCombines('replicas', target);
  if (mode === 'shared') assertCombines("mode: 'shared'", target);
}
