import type { CanActivate, ModuleMetadata, Type } from '@nestjs/common';
import { LockConfigError } from '../errors/lock.error.js';
import { assertOptions, checksOf, oneOf, refuseOption } from '../options/option-checks.js';

/** A guard as `@UseGuards` takes it. */
export type LockInspectorGuard = Type<CanActivate> | CanActivate;

/** Options of {@link LockInspectorModule.forRoot}: with guards, or expressly without. */
export type LockInspectorOptions = {
  /** Path of the controller, below the global prefix. Default `locks`. */
  path?: string;
  /**
   * Whether the inspector can release locks forcibly: `DELETE /locks/:name`, and a button on the page. Default false.
   */
  actions?: boolean;
  /** The `name` of the `RedisLockModule` to inspect; omit it for the module without a name. */
  module?: string;
  /** Modules that export the dependencies of the guards. */
  imports?: ModuleMetadata['imports'];
} & (
  | {
      /** Decide who has access: all of them must agree, as with `@UseGuards`. */
      guards: readonly LockInspectorGuard[];
      public?: false;
    }
  | {
      guards?: undefined;
      /** Every client that reaches the application has access, for example behind a proxy that checks it. */
      public: true;
    }
);

const FLAG = oneOf(true, false);

const CHECKS = checksOf({
  path: { check: checkText },
  module: { check: checkText },
  actions: { check: FLAG },
  public: { check: FLAG },
  guards: {
    check: (option, value) => {
      if (!Array.isArray(value) || !value.every(isGuard)) refuseOption(option, value, 'an array of guards');
    },
  },
  imports: {
    check: (option, value) => {
      if (!Array.isArray(value)) refuseOption(option, value, 'an array of modules');
    },
  },
});

function checkText(option: string, value: unknown): void {
  if (typeof value !== 'string' || value === '') refuseOption(option, value, 'a string that is not empty');
}

function isGuard(value: unknown): boolean {
  return (
    typeof value === 'function' || (typeof value === 'object' && value !== null && 'canActivate' in value)
  );
}

/**
 * Rejects invalid options, and an inspector without a decision about access.
 *
 * @throws LockConfigError
 */
export function assertInspectorOptions(options: LockInspectorOptions): void {
  assertOptions('The options of LockInspectorModule.forRoot()', options, CHECKS);
  const isGuarded = (options.guards ?? []).length > 0;
  if (isGuarded !== (options.public === true)) return;
  throw new LockConfigError(
    isGuarded
      ? 'LockInspectorModule has guards and public: true. Leave out one of them.'
      : 'LockInspectorModule shows who holds which lock, so it needs guards: [AdminGuard]. ' +
          'Set public: true if every client that reaches the application may see that.',
  );
}
