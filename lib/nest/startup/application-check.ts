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
import {
  currentLockWithoutLocked,
  interceptorIgnored,
  lockedByOtherCopy,
  lockedHidden,
  lockedOverridden,
  moduleMissing,
  scheduledOnNonStatic,
  wrapperAround,
} from './start.messages.js';

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
  method: LockedMethod,
  modules: ModulesContainer,
): Iterable<string> {
  const current: unknown = Reflect.get(prototype, key);
  if (typeof current !== 'function') return;
  if (!isLockedFunction(current) && !isHandler(current) && seemsTransactional(current, modules))
    yield wrapperAround(method);
  if (!isStatic && isScheduled(current)) yield scheduledOnNonStatic(method.name);
  const kind = kindIgnoringInterceptors(current, prototype.constructor, modules);
  if (kind !== undefined) yield interceptorIgnored(method.name, kind);
  if (!provides(modules, method.module)) yield moduleMissing(method);
}

/** Methods that override a locked one and are not locked. */
function* unlockedOverridesOf(prototype: object): Iterable<string> {
  const overrides = new Map<string | symbol, object>();
  for (const declaring of inheritanceOf(prototype)) {
    for (const [key, method] of lockedMethodsOf(declaring)) {
      const overriding = overrides.get(key);
      if (overriding !== undefined && !lockedMethodsOf(overriding).has(key) && !callsSuper(overriding, key))
        yield lockedOverridden(memberName(overriding, key), method);
    }
    for (const key of Reflect.ownKeys(declaring)) if (!overrides.has(key)) overrides.set(key, declaring);
  }
}

/** Fields that hide a locked method: they belong to the instance, not to its class. */
function* unlockedFieldsOf(found: ProvidedClass): Iterable<string> {
  if (found.instance === undefined) return;
  for (const [key, method] of lockedMethodsIn(found)) {
    const field: unknown = Object.getOwnPropertyDescriptor(found.instance, key)?.value;
    if (typeof field === 'function' && !callsHidden(field))
      yield lockedHidden(memberName(found.prototype, key), method);
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
        yield lockedByOtherCopy(memberName(declaring, key), ownCopy(), other);
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
    throw new LockConfigError(currentLockWithoutLocked(memberName(prototype, key)));
  }
}
