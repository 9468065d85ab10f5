import { assertOptions, checksOf, withDefaults } from './option-checks.js';
import { defaultsOf, LIST_OPTIONS } from './option-table.js';

/** Options of a listing of held names. */
export interface ListOptions {
  /** Lists only names with this prefix. Default: all. */
  prefix?: string;
  /** Maximum number of names. Default Infinity. */
  limit?: number;
}

const CHECKS = checksOf(LIST_OPTIONS);
const DEFAULTS = defaultsOf(LIST_OPTIONS);

/**
 * Fills in the defaults of a list.
 *
 * @throws LockConfigError naming the option, its value and what is allowed.
 */
export function resolveListOptions(options: ListOptions): Required<ListOptions> {
  assertOptions('The options of list()', options, CHECKS);
  return withDefaults(DEFAULTS, options);
}
