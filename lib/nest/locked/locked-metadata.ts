import type { KeySource } from '../../keys/key-source.js';
import type { LockedOptions } from './locked-options.js';

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

/** Adds the arguments of a further `@Locked` around those of the method. */
export function addLockedMetadata(method: object, metadata: LockedMetadata): void {
  const inner: readonly LockedMetadata[] = Reflect.getOwnMetadata(LOCKED_METADATA, method) ?? [];
  Reflect.defineMetadata(LOCKED_METADATA, [metadata, ...inner], method);
}
