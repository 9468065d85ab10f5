import type {
  RedisLockAdvancedOptions,
  RedisLockModuleOptions,
  ResolvedModuleOptions,
} from '../../lib/options/module-options.interface.js';
import { resolveModuleOptions } from '../../lib/options/module-options.js';

/** The options of a module with those of `advanced` beside the others, so that a test can spread several of them together. */
export type FlatOptions = Omit<RedisLockModuleOptions, 'advanced'> & RedisLockAdvancedOptions;

/** @throws LockConfigError as `forRoot` does. */
export function resolveFlatOptions(flat: FlatOptions): ResolvedModuleOptions {
  const { maxResult, commandTimeout, nodeTimeout, wake, layout, ...options } = flat;
  const advanced = { maxResult, commandTimeout, nodeTimeout, wake, layout };
  return resolveModuleOptions({ ...options, advanced });
}
