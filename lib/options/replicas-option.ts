import { LockConfigError } from '../errors/lock-config.error.js';
import type { ReplicaOptions, ResolvedLockOptions } from '../interfaces/lock-options.interface.js';
import type { LockModuleOptions } from '../interfaces/module-options.interface.js';
import { isClusterConnection } from './cluster-option.js';
import {
  assertKnownOptions,
  assertMilliseconds,
  assertOptionsObject,
  assertWholeNumber,
} from './option-checks.js';
import { assertNoQuorum } from './quorum-option.js';

const REPLICA_TIMEOUT = 100;

const NAMES: ReadonlySet<string> = new Set<keyof ReplicaOptions>(['min', 'timeout']);

/** Refuses a `replicas` option that can never work. */
export function assertReplicas(replicas: ReplicaOptions): void {
  assertOptionsObject('replicas', replicas);
  assertKnownOptions(replicas, NAMES, 'replicas.');
  assertWholeNumber('replicas.min', replicas.min, 0);
  // Redis takes 0 for "without end".
  if (replicas.timeout !== undefined)
    assertMilliseconds('replicas.timeout', replicas.timeout, { min: 1, whole: true });
}

/** A checked `replicas` option with its default filled in; undefined where it asks for no replica. */
export function resolveReplicas({
  min,
  timeout = REPLICA_TIMEOUT,
}: ReplicaOptions): ResolvedLockOptions['replicas'] {
  return min === 0 ? undefined : { min, timeout };
}

/** Refuses replicas where locks are kept on servers that have none. */
export function assertReplicasGoWith(
  connection: LockModuleOptions['connection'],
  replicas: ResolvedLockOptions['replicas'],
): void {
  if (!replicas) return;
  assertNoQuorum(connection, 'replicas', 'a majority of independent servers knows of every lock');
  if (!isClusterConnection(connection)) return;
  throw new LockConfigError(
    'replicas does not go with a Redis Cluster. Leave it out, or keep these locks on one master with replicas.',
  );
}
