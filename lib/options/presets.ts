import { LockConfigError } from '../errors/lock.error.js';
import { assertLockOptionsGoWith } from './connection/rejected-options.js';
import type { LockOptions, ResolvedLockOptions } from './lock-options.interface.js';
import { resolveLockOptions } from './lock-options.js';
import { printableValue } from './option-checks.js';
import type { LockPreset, ResolvedModuleOptions } from './module-options.interface.js';

/**
 * Fills in the defaults of the module for each preset.
 *
 * @throws LockConfigError naming the preset whose options do not go together.
 */
export function resolvePresets(
  module: Pick<ResolvedModuleOptions, 'connection' | 'layout' | 'defaults'>,
  presets: Readonly<Record<string, LockPreset>> = {},
): ResolvedModuleOptions['presets'] {
  const resolved = Object.entries(presets).map(([name, preset]) => {
    try {
      const options = resolveLockOptions(module.defaults, preset);
      assertLockOptionsGoWith(module, options);
      return [name, options] as const;
    } catch (cause) {
      throw new LockConfigError(`presets.${name}: ${(cause as Error).message}`, { cause });
    }
  });
  return new Map(resolved);
}

/**
 * Resolves the options of one acquire of a module: those of the call override its preset, which overrides the defaults.
 *
 * @throws LockConfigError for options that can never work.
 */
export function resolveCallOptions(
  module: ResolvedModuleOptions,
  options: LockOptions | undefined,
): ResolvedLockOptions {
  const preset = options?.preset;
  const base = preset === undefined ? module.defaults : presetOf(module, preset);
  const resolved = resolveLockOptions(base, options);
  assertLockOptionsGoWith(module, resolved);
  return resolved;
}

function presetOf({ presets }: ResolvedModuleOptions, name: string): ResolvedLockOptions {
  const preset = presets.get(name);
  if (preset !== undefined) return preset;
  const known =
    presets.size > 0
      ? `Known here: ${[...presets.keys()].join(', ')}.`
      : 'The module has none: add it to the option presets of its forRoot().';
  throw new LockConfigError(`There is no preset ${printableValue(name)}. ${known}`);
}
