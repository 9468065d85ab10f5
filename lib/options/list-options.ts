import { LockConfigError } from '../errors/lock.error.js';
import { isClusterConnection } from './connection/cluster-option.js';
import type { ResolvedModuleOptions } from './module-options.interface.js';
import { assertOptions, optionChecks, refuseOption, wholeNumber } from './option-checks.js';

/** Options of a listing of held names. */
export interface ListOptions {
  /** Lists only names with this prefix. Default: all. */
  prefix?: string;
  /** Maximum number of names. Default Infinity. */
  limit?: number;
}

const COUNT = wholeNumber(1);

const CHECKS = optionChecks({
  prefix: (option, value) => {
    if (typeof value !== 'string') refuseOption(option, value, 'a string');
  },
  limit: (option, value) => value === Infinity || COUNT(option, value),
});

/**
 * Fills in the defaults of a list.
 *
 * @throws LockConfigError naming the option, its value and what is allowed.
 */
export function resolveListOptions(options: ListOptions): Required<ListOptions> {
  assertOptions('The options of list()', options, CHECKS);
  return { prefix: options.prefix ?? '', limit: options.limit ?? Infinity };
}

/** Rejects a listing if no request reaches all locks. */
export function assertCanList({ connection, layout }: ResolvedModuleOptions): void {
  if (layout !== 'per-name' || isClusterConnection(connection)) return;
  throw new LockConfigError(
    "list() cannot be combined with advanced.layout: 'per-name', where no request reaches all shards. Scan the keys of each shard instead.",
  );
}
