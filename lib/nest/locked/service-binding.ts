import { Inject, type InjectionToken, Optional } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import type { LockService } from '../../service/lock.service.js';
import { tryTo } from '../../primitives/try-to.js';
import { getLockServiceToken } from '../../service/lock-service.token.js';

/** Identifies an application in a process: the container of its modules. */
type Application = object;

const APPLICATION = Symbol('nest-redis-lock:application');

/** An instance that Nest constructed. */
interface Bound {
  readonly [APPLICATION]?: Application;
}

const bindings = new Map<string | undefined, ServiceBinding>();

/** The binding of one module name; undefined is the module without a name. */
export function serviceBinding(module: string | undefined): ServiceBinding {
  const known = bindings.get(module);
  if (known !== undefined) return known;
  const binding = new ServiceBinding(module);
  bindings.set(module, binding);
  return binding;
}

/**
 * Binds instances of classes with locked methods to their LockService, for one module name.
 *
 * Nest injects the service and the application into instances that it constructs, whether the application has the module
 * or not; {@link bind} handles instances from factories. An instance keeps both in properties that are not enumerable, so
 * that it does not show them. Nest may inject through a Proxy while calls run on the instance itself, or the reverse: a
 * property is found through both, an entry of a WeakMap is not.
 *
 * Nest calls no shutdown hook of an application that fails to start. A binding therefore keeps no application alive, and
 * an application counts as running only after its start has succeeded as far as known.
 */
export class ServiceBinding {
  private readonly property = Symbol('nest-redis-lock:LockService');
  private readonly present = new WeakMap<Application, LockService>();
  private readonly running = new Map<LockService, WeakRef<Application>>();

  constructor(private readonly module: string | undefined) {}

  /** Adds the service of a starting application. */
  add(application: Application, service: LockService): void {
    this.present.set(application, service);
  }

  /** Records that the application has started. */
  started(application: Application, service: LockService): void {
    this.forgetGone();
    this.running.set(service, new WeakRef(application));
  }

  /** Removes the service of an application that has ended. */
  delete(application: Application, service: LockService): void {
    this.present.delete(application);
    this.running.delete(service);
  }

  /** Lets Nest inject the service into instances of a class and of its subclasses. */
  injectInto(prototype: object): void {
    inject(prototype, this.property, getLockServiceToken(this.module));
    inject(prototype, APPLICATION, ModulesContainer);
  }

  /** Binds an instance to a service, unless it needs none or has one that still runs. */
  bind(instance: unknown, service: LockService): void {
    if (typeof instance !== 'object' || instance === null) return;
    // Any value may be a provider, also one that throws.
    if (tryTo(() => this.property in instance) !== true) return;
    const bound = this.boundTo(instance);
    if (bound === undefined || !this.isRunning(bound)) Reflect.set(instance, this.property, service);
  }

  /**
   * The service of an instance. An instance that was created after the start without Nest belongs to no application; it
   * uses the only running service of this name, if there is exactly one.
   */
  serviceOf(instance: object): LockService | undefined {
    const bound = this.boundTo(instance);
    if (bound !== undefined) return bound;
    const application = (Object(instance) as Bound)[APPLICATION];
    if (application !== undefined) return this.present.get(application);
    this.forgetGone();
    const [first, second] = this.running.keys();
    return second === undefined ? first : undefined;
  }

  private isRunning(service: LockService): boolean {
    return this.running.get(service)?.deref() !== undefined;
  }

  /** Removes applications that were collected without a shutdown. */
  private forgetGone(): void {
    for (const service of this.running.keys()) if (!this.isRunning(service)) this.running.delete(service);
  }

  private boundTo(instance: object): LockService | undefined {
    const service: unknown = Reflect.get(Object(instance) as object, this.property);
    return service as LockService | undefined;
  }
}

/** Lets Nest inject a value into the instances of a class, if the application has it. */
function inject(prototype: object, property: symbol, token: InjectionToken): void {
  if (property in prototype) return;
  /** For instances that accept no further property. */
  const frozen = new WeakMap<object, unknown>();
  Object.defineProperty(prototype, property, {
    configurable: true,
    get(this: object) {
      return frozen.get(this);
    },
    set(this: object, value: unknown) {
      const kept = { value, configurable: true, writable: true, enumerable: false };
      if (!Reflect.defineProperty(this, property, kept)) frozen.set(this, value);
    },
  });
  Inject(token)(prototype, property);
  Optional()(prototype, property);
}
