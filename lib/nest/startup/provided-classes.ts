import type { ModulesContainer } from '@nestjs/core';
import type { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper.js';

/** A class that an application constructs, or of which it has an instance. */
export interface ProvidedClass {
  readonly prototype: object;
  /**
   * Whether there is a single instance, created at start: neither it nor its dependencies are request-scoped or
   * transient.
   */
  readonly isStatic: boolean;
  /** The instance, if it exists already. */
  readonly instance: object | undefined;
}

/**
 * The classes that the modules of an application provide, including classes that are tokens, whose implementation a
 * test may have replaced.
 */
export function* providedClasses(modules: ModulesContainer): Iterable<ProvidedClass> {
  for (const [token, wrapper] of provided(modules)) {
    const isStatic = wrapper.isDependencyTreeStatic();
    const instance: unknown = wrapper.instance;
    const own = classPrototypeOf(instance);
    for (const prototype of new Set([prototypeOf(wrapper.metatype), prototypeOf(token), own])) {
      if (prototype === undefined) continue;
      yield { prototype, isStatic, instance: prototype === own ? (instance as object) : undefined };
    }
  }
}

/** All providers and controllers of an application, each with its token. */
export function* provided(modules: ModulesContainer): Iterable<[token: unknown, InstanceWrapper]> {
  for (const { providers, controllers, injectables } of modules.values()) {
    for (const collection of [providers, controllers, injectables]) yield* collection;
  }
}

function prototypeOf(type: unknown): object | undefined {
  return typeof type === 'function' && isObject(type.prototype) ? type.prototype : undefined;
}

function classPrototypeOf(instance: unknown): object | undefined {
  const prototype: unknown = isObject(instance) ? Object.getPrototypeOf(instance) : undefined;
  return isObject(prototype) ? prototype : undefined;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
