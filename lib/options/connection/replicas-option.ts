import { LockConfigError } from '../../errors/lock.error.js';
import { toMilliseconds } from '../duration.js';
import type { ReplicaOptions, ResolvedLockOptions } from '../lock-options.interface.js';
import type { ResolvedModuleOptions } from '../module-options.interface.js';
import { isClusterConnection } from './cluster-option.js';
import { MEMORY } from './connection-option.js';
import { assertOptions, milliseconds, optionChecks, wholeNumber } from '../option-checks.js';
import { assertNoQuorum } from './quorum-option.js';

const MIN = wholeNumber(0);
// To Redis, 0 means no limit.
const CHECKS = optionChecks({ min: MIN, timeout: milliseconds({ min: 1, whole: true }) });

/** Rejects an invalid `replicas` option. */
export function checkReplicas(option: string, replicas: unknown): void {
  assertOptions(option, replicas, CHECKS, `${option}.`);
  MIN(`${option}.min`, Reflect.get(replicas, 'min'));
}

/** A checked `replicas` option with its default; undefined if it requires no replica. */
export function resolveReplicas({ min, timeout = 100 }: ReplicaOptions): ResolvedLockOptions['replicas'] {
  return min === 0 ? undefined : { min, timeout: toMilliseconds(timeout) };
}

/** Rejects `replicas` for topologies that cannot confirm leases. */
export function assertReplicasGoWith(
  { connection, layout }: Pick<ResolvedModuleOptions, 'connection' | 'layout'>,
  replicas: ResolvedLockOptions['replicas'],
): void {
  if (!replicas) return;
  if (connection === MEMORY) {
    throw new LockConfigError(
      "replicas cannot be combined with connection: 'memory', which has no replicas. Leave it out, or set replicas.min to 0.",
    );
  }
  if (layout === 'per-name') {
    throw new LockConfigError(
      "replicas cannot be combined with advanced.layout: 'per-name', where no connection leads to one server. Remove one of them.",
    );
  }
  assertNoQuorum(connection, 'replicas', 'a majority of independent servers knows every lock');
  if (!isClusterConnection(connection)) return;
  throw new LockConfigError(
    'replicas cannot be combined with a Redis Cluster. Remove it, or keep these locks on one master with replicas.',
  );
}
