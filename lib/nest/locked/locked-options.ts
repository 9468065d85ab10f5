import { LockConfigError } from '../../errors/lock.error.js';
import type { LockTimeoutError } from '../../errors/lock-timeout.error.js';
import type { KeySource } from '../../keys/key-source.js';
import type { LockOptions } from '../../options/lock-options.interface.js';
import { assertHoldRange, assertLimitGoesWith, assertPermitsGoWith } from '../../options/lock-options.js';
import { assertOptions, checksOf } from '../../options/option-checks.js';
import type { OnceOptions } from '../../options/once-options.js';
import { LOCK_OPTIONS, LOCKED_OPTIONS, ONCE_OPTIONS } from '../../options/option-table.js';

/**
 * Options of `@Locked`: those of an acquire, the reaction to a timeout, and the module. `Args` are the arguments of an
 * `onTimeout` function, which the method's arguments must fit, and `Result` is its result. `Word` is `'throw'` or
 * `'skip'` instead of a function.
 */
export interface LockedOptions<
  Args extends readonly unknown[] = [],
  Result = unknown,
  Word extends 'throw' | 'skip' = 'throw' | 'skip',
> extends Omit<LockOptions, 'signal'> {
  /**
   * The result of a call whose wait ended without the lock. `'throw'` rejects with the LockTimeoutError, `'skip'`
   * resolves to undefined, and a function of the error and the method's arguments returns the result. Default
   * `'throw'`.
   *
   * The instance is the `this` of the function. The method's type must allow the result: `Promise<Report | undefined>`
   * with `'skip'`.
   */
  onTimeout?: Word | ((error: LockTimeoutError, ...args: Args) => Result);
  /** Name of the `RedisLockModule` to use. Default: the one without a name. */
  module?: string;
}

/** Options of `@Once`: those of `@Locked` for one name alone, and how long the result is kept. */
export interface OnceMethodOptions<
  Args extends readonly unknown[] = [],
  Result = unknown,
  Word extends 'throw' | 'skip' = 'throw' | 'skip',
>
  extends Omit<LockedOptions<Args, Result, Word>, 'mode' | 'limit' | 'permits'>, Pick<OnceOptions, 'keep'> {}

const OPTIONS = { ...LOCK_OPTIONS, ...LOCKED_OPTIONS };
const CHECKS = checksOf(OPTIONS, 'locked');

/** Rejects invalid options of `@Locked` when the class is defined. */
export function assertLockedOptions(options: LockedOptions<never>): void {
  assertOptions('The options of @Locked', options, CHECKS);
  assertHoldRange(options);
  const { mode, limit, permits } = options;
  // Without a mode or a limit here, those of the preset apply, which is known only at the call.
  if (mode !== undefined) assertLimitGoesWith(mode, limit);
  assertPermitsGoWith(mode, limit, permits);
}

const ONCE_CHECKS = checksOf({ ...OPTIONS, ...ONCE_OPTIONS }, 'locked');

/** Rejects invalid options of `@Once` when the class is defined. */
export function assertOnceOptions(options: OnceMethodOptions<never>): void {
  assertOptions('The options of @Once', options, ONCE_CHECKS);
  if (options.keep === undefined)
    throw new LockConfigError("@Once needs the option keep: how long the result is kept, such as '1h'.");
  assertHoldRange(options);
}

/**
 * The key of the metadata that `@Locked` leaves on a method, for `Reflector` and `Reflect.getMetadata`. The value is an
 * array of {@link LockedMetadata}, one for each `@Locked` of the method, the outermost first.
 *
 * @example
 * ```ts
 * const locked = this.reflector.get<LockedMetadata[] | undefined>(LOCKED_METADATA, context.getHandler());
 * ```
 */
export const LOCKED_METADATA = 'nest-redis-lock:locked';

/** The arguments of one `@Locked`. */
export interface LockedMetadata {
  readonly key: KeySource;
  readonly options: Readonly<LockedOptions<never>>;
}

/** A decorator of this package, as its users write it. */
export type Decorator = '@Locked' | '@Once';

/** The decorator that takes the options. */
export function decoratorOf(options: Readonly<LockedOptions<never>>): Decorator {
  return 'keep' in options ? '@Once' : '@Locked';
}

/** Property of a {@link LockedMetadata}: the folder of the copy of this package that has written it. */
const COPY = Symbol.for('nest-redis-lock:copy');

/** The metadata that this copy of the package has written. */
const written = new WeakSet<LockedMetadata>();

/** The folder of this copy of the package; a bundle of ES modules has none. */
export function ownCopy(): string {
  // oxlint-disable-next-line eslint/no-restricted-globals -- Asked for by `typeof`.
  return typeof __dirname === 'string' ? __dirname : 'a bundle';
}

/** Another copy of the package that has locked a method. */
export interface OtherCopy {
  readonly decorator: Decorator;
  readonly folder: string;
}

/** The other copy of the package that has locked a method; undefined if it is this copy, or none. */
export function otherCopyOf(method: object): OtherCopy | undefined {
  const found: readonly LockedMetadata[] = Reflect.getOwnMetadata(LOCKED_METADATA, method) ?? [];
  const foreign = found.find((metadata) => !written.has(metadata));
  if (foreign === undefined) return undefined;
  const folder = Reflect.get(foreign, COPY) as string | undefined;
  return folder === undefined ? undefined : { decorator: decoratorOf(foreign.options), folder };
}

/** Adds the arguments of a further `@Locked` around those of the method. */
export function addLockedMetadata(method: object, metadata: LockedMetadata): void {
  written.add(Object.defineProperty(metadata, COPY, { value: ownCopy() }));
  const inner: readonly LockedMetadata[] = Reflect.getOwnMetadata(LOCKED_METADATA, method) ?? [];
  Reflect.defineMetadata(LOCKED_METADATA, [metadata, ...inner], method);
}
