import { LockConfigError } from '../../errors/lock.error.js';

/** The name of a class member in messages. */
export function memberName(prototype: object, key: string | symbol): string {
  return `${prototype.constructor.name}.${String(key)}`;
}

/**
 * Rejects a decorator outside the body of a class, or on a static member. TypeScript rejects most of that, but
 * compilers without type checks (esbuild, swc, Babel) do not.
 *
 * @throws LockConfigError that names the right decorator.
 */
export function assertInstanceMember(
  decorator: string,
  belongs: string,
  target: unknown,
  key: string | symbol | undefined,
): void {
  // A TC39 decorator receives an object instead of a name.
  if (typeof (key as unknown) === 'object') {
    throw new LockConfigError(
      `${decorator} was compiled as a TC39 decorator, which Nest does not know. Set "experimentalDecorators" and ` +
        '"emitDecoratorMetadata" to true in the tsconfig.json that compiles it, or the equivalent options of another compiler.',
    );
  }
  if (typeof target !== 'function') return;
  const found =
    key === undefined ? `decorates the class ${target.name} or its constructor` : `${String(key)} is static`;
  throw new LockConfigError(
    `${decorator} is for ${belongs} of instances, but ${found}. Put it on ${belongs} of a provider or controller.`,
  );
}

/** A prototype and its base prototypes, without that of Object. */
export function* inheritanceOf(prototype: object): Iterable<object> {
  for (
    let current: unknown = prototype;
    typeof current === 'object' && current !== null;
    current = Object.getPrototypeOf(current)
  ) {
    if (current !== Object.prototype) yield current;
  }
}
