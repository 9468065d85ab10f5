import type { ModulesContainer } from '@nestjs/core';
import type { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper.js';

/** A class that an application constructs or was given an instance of. */
export interface ProvidedClass {
  readonly prototype: object;
  /** Whether there is one instance, made at start: neither it nor what it injects is request-scoped or transient. */
  readonly isStatic: boolean;
  /** The instance, if there is one already. */
  readonly instance: object | undefined;
}

/** The classes that the modules of an application provide, tokens included: a test may have replaced what is behind. */
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

/** All that an application constructs or was given, each with its token. */
export function* provided(modules: ModulesContainer): Iterable<[token: unknown, InstanceWrapper]> {
  for (const { providers, controllers, injectables } of modules.values()) {
    for (const collection of [providers, controllers, injectables]) yield* collection;
  }
}

/** A prototype and those that it inherits from, without that of Object. */
export function* inheritanceOf(prototype: object): Iterable<object> {
  for (let current: unknown = prototype; isObject(current); current = Object.getPrototypeOf(current)) {
    if (current !== Object.prototype) yield current;
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
