import { types } from 'node:util';
import type { ModulesContainer } from '@nestjs/core';
import { currentLockIndexes } from '../locked/current-lock.decorator.js';
import { isLockedFunction, type LockedMethod, lockedMethodsOf } from '../locked/locked-method.js';
import { LockConfigError } from '../../errors/lock.error.js';
import { getLockServiceToken } from '../../service/lock-service.token.js';
import { inheritanceOf, memberName } from '../locked/instance-member.js';
import { otherCopyOf, ownCopy } from '../locked/locked-options.js';
import { isHandler, isScheduled, kindIgnoringInterceptors } from './kinds-without-interceptors.js';
import { provided, providedClasses, type ProvidedClass } from './provided-classes.js';

/**
 * Checks the classes of an application for locked methods that can never work.
 *
 * @returns the warnings.
 * @throws LockConfigError for a `@CurrentLock()` that would never receive a lock.
 */
export function checkApplication(modules: ModulesContainer): readonly string[] {
  const warnings = new Set<string>();
  for (const found of providedClasses(modules)) {
    for (const prototype of inheritanceOf(found.prototype)) assertLockedWhereCurrentLock(prototype);
    for (const [key, method] of lockedMethodsIn(found)) {
      for (const warning of warningsOf(found, key, method, modules)) warnings.add(warning);
    }
    for (const warning of unlockedOverridesOf(found.prototype)) warnings.add(warning);
    for (const warning of unlockedFieldsOf(found)) warnings.add(warning);
    for (const warning of foreignLocksOf(found, modules)) warnings.add(warning);
  }
  return [...warnings];
}

/** The methods of the application that use the module with a name. */
export function lockedMethodsThrough(
  modules: ModulesContainer,
  name: string | undefined,
): ReadonlySet<LockedMethod> {
  const methods = Array.from(providedClasses(modules), (found) => [...lockedMethodsIn(found)]).flat();
  return new Set(methods.map(([, method]) => method).filter(({ module }) => module === name));
}

/** The locked methods of a class and of its base classes, without overridden ones. */
export function* lockedMethodsIn({
  prototype,
}: Pick<ProvidedClass, 'prototype'>): Iterable<[string | symbol, LockedMethod]> {
  for (const declaring of inheritanceOf(prototype)) {
    for (const [key, method] of lockedMethodsOf(declaring)) {
      if (Reflect.get(prototype, key) === Reflect.get(declaring, key)) yield [key, method];
    }
  }
}

function* warningsOf(
  { prototype, isStatic }: ProvidedClass,
  key: string | symbol,
  { decorator, module, name }: LockedMethod,
  modules: ModulesContainer,
): Iterable<string> {
  const current: unknown = Reflect.get(prototype, key);
  if (typeof current !== 'function') return;
  if (!isLockedFunction(current) && !isHandler(current) && seemsTransactional(current, modules))
    yield (
      `A decorator above ${decorator} wraps ${name}, and seems to open a transaction, as @Transactional() does. Such ` +
      `a transaction commits after the release, and the next holder reads the old rows. Put ${decorator} above it.`
    );
  if (!isStatic && isScheduled(current))
    yield (
      `${name} is a scheduled job of a provider that is not static (request-scoped, transient, or injects one that is), ` +
      'so @nestjs/schedule never runs it. Move it to a provider with the default scope.'
    );
  const kind = kindIgnoringInterceptors(current, prototype.constructor, modules);
  if (kind !== undefined)
    yield (
      `${name} has interceptors, but Nest runs none for ${kind}. Move their work into the method, ` +
      'or into a decorator around it. The lock is released when the method ends.'
    );
  if (provides(modules, module)) return;
  yield module === undefined
    ? `${name} is ${decorator} without the option module, but each RedisLockModule has a name, so its calls will fail. ` +
      'Set module to one of the names.'
    : `${name} is ${decorator} with module '${module}', but no RedisLockModule has that name, so its calls ` +
      `will fail. Import RedisLockModule.forRoot({ name: '${module}', … }).`;
}

/** Methods that override a locked one and are not locked. */
function* unlockedOverridesOf(prototype: object): Iterable<string> {
  const overrides = new Map<string | symbol, object>();
  for (const declaring of inheritanceOf(prototype)) {
    for (const [key, { decorator, name }] of lockedMethodsOf(declaring)) {
      const overriding = overrides.get(key);
      if (overriding !== undefined && !lockedMethodsOf(overriding).has(key) && !callsSuper(overriding, key))
        yield (
          `${memberName(overriding, key)} is not ${decorator}, but overrides ${name}, which is: decorators are not ` +
          `inherited, so it runs without a lock. Put ${decorator} on the override as well.`
        );
    }
    for (const key of Reflect.ownKeys(declaring)) if (!overrides.has(key)) overrides.set(key, declaring);
  }
}

/** Fields that hide a locked method: they belong to the instance, not to its class. */
function* unlockedFieldsOf(found: ProvidedClass): Iterable<string> {
  if (found.instance === undefined) return;
  for (const [key, { decorator, name }] of lockedMethodsIn(found)) {
    const field: unknown = Object.getOwnPropertyDescriptor(found.instance, key)?.value;
    if (typeof field === 'function' && !callsHidden(field))
      yield (
        `${memberName(found.prototype, key)} is a field that hides ${name}, which is ${decorator}. Unless the field ` +
        'calls that method, its calls run without a lock. Write it as a method with ' +
        `${decorator}: async name() { … }. If it calls that method, rename the field.`
      );
  }
}

/** Whether a field surely passes its calls on: bound, as in `this.run = this.run.bind(this)`, a Proxy, or by `super`. */
function callsHidden(field: Function): boolean {
  return field.name.startsWith('bound ') || types.isProxy(field) || textOf(field).includes('super');
}

/**
 * Whether a wrapper may open a transaction; a span or a log around a lock is harmless. Judged by its text, which a
 * Proxy hides: `@Transactional()` of `@nestjs-cls/transactional` is one, and needs a TransactionHost.
 */
function seemsTransactional(wrapper: Function, modules: ModulesContainer): boolean {
  if (!types.isProxy(wrapper)) return /transaction/i.test(textOf(wrapper));
  const tokens = Array.from(provided(modules), ([token]) => token);
  return tokens.some((token) => typeof token === 'function' && token.name === 'TransactionHost');
}

function textOf(code: Function): string {
  return Function.prototype.toString.call(code);
}

/** Methods that another copy of this package has locked, in an application without the module of that copy. */
function* foreignLocksOf({ prototype }: ProvidedClass, modules: ModulesContainer): Iterable<string> {
  for (const declaring of inheritanceOf(prototype)) {
    for (const key of Reflect.ownKeys(declaring)) {
      const method: unknown = Reflect.getOwnPropertyDescriptor(declaring, key)?.value;
      const other = typeof method === 'function' ? otherCopyOf(method) : undefined;
      if (other !== undefined && !hasOtherModule(modules))
        yield (
          `${memberName(declaring, key)} is ${other.decorator} by another copy of nest-redis-lock, so its calls will ` +
          `find no LockService. RedisLockModule comes from ${ownCopy()}, the decorator from ${other.folder}. ` +
          'Install the package once: npm ls nest-redis-lock names who installs it.'
        );
    }
  }
}

/** Whether the application imports the modules of several copies of this package. */
function hasOtherModule(modules: ModulesContainer): boolean {
  const cores = [...modules.values()].filter(({ name }) => name === 'LockCoreModule');
  return new Set(cores.map(({ metatype }) => metatype)).size > 1;
}

/** Whether a method calls `super`, and so may run the locked one for a part of its work; judged by its text. */
function callsSuper(prototype: object, key: string | symbol): boolean {
  const override: unknown = Reflect.getOwnPropertyDescriptor(prototype, key)?.value;
  return typeof override === 'function' && textOf(override).includes('super');
}

function provides(modules: ModulesContainer, name: string | undefined): boolean {
  const token = getLockServiceToken(name);
  return [...modules.values()].some((module) => module.providers.has(token));
}

function assertLockedWhereCurrentLock(prototype: object): void {
  const locked = lockedMethodsOf(prototype);
  for (const key of Reflect.ownKeys(prototype)) {
    if (locked.has(key) || currentLockIndexes(prototype, key).length === 0) continue;
    throw new LockConfigError(
      `${memberName(prototype, key)} has a @CurrentLock() parameter, but no @Locked or @Once, so it would never receive a ` +
        'lock. Put the decorator on the method, or remove the parameter. An override needs its own decorator.',
    );
  }
}
