import { LockConfigError } from '../../errors/lock-config.error.js';

/** How messages name a member of a class. */
export function memberName(prototype: object, key: string | symbol): string {
  return `${prototype.constructor.name}.${String(key)}`;
}

/**
 * Refuses a decorator that stands elsewhere than in the body of a class, or on something static. TypeScript refuses most of
 * that, but what compiles without checking types (esbuild, swc, Babel) does not.
 *
 * @throws LockConfigError saying where it belongs.
 */
export function assertInstanceMember(
  decorator: string,
  belongs: string,
  target: unknown,
  key: string | symbol | undefined,
): void {
  // An object is what a TC39 decorator gets in place of a name.
  if (typeof (key as unknown) === 'object') {
    throw new LockConfigError(
      `${decorator} was compiled as a TC39 decorator, which Nest does not know. Set "experimentalDecorators" and ` +
        '"emitDecoratorMetadata" to true in the tsconfig.json that compiles it, or the like for another compiler.',
    );
  }
  if (typeof target !== 'function') return;
  const found =
    key === undefined ? `stands on the class ${target.name} or its constructor` : `${String(key)} is static`;
  throw new LockConfigError(
    `${decorator} is for ${belongs} of instances, but ${found}. Put it on ${belongs} of a provider or controller.`,
  );
}
