import { LockConfigError } from '../../errors/lock.error.js';
import type { ResolvedLockOptions } from '../lock-options.interface.js';
import type { ResolvedModuleOptions } from '../module-options.interface.js';
import { isClusterConnection } from './cluster-option.js';
import { MEMORY } from './connection-option.js';
import { isQuorum } from './quorum-option.js';

type Target = Pick<ResolvedModuleOptions, 'connection' | 'layout'>;

/** What rejects options, by their name in messages. */
const IS = {
  "advanced.layout: 'per-name'": ({ layout }: Target) => layout === 'per-name',
  "connection: 'memory'": ({ connection }: Target) => connection === MEMORY,
  'a quorum': ({ connection }: Target) => isQuorum(connection),
  'a Redis Cluster': ({ connection }: Target) => isClusterConnection(connection),
};

type Kind = keyof typeof IS;

/** What rejects an option, each with the end of its message: why, and what to do. */
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
  credentials: { "connection: 'memory'": ', where no server requests them. Leave them out.' },
} satisfies Readonly<Record<string, Partial<Record<Kind, string>>>>;

/** Rejects an option of the module or of an acquire that cannot work there. */
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
