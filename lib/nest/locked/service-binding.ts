import { Inject, type InjectionToken, Optional } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import type { LockService } from '../../service/lock.service.js';
import { getLockServiceToken } from '../../service/lock-service.token.js';
import { type Application, ApplicationServices } from './application-services.js';

const APPLICATION = Symbol('nest-redis-lock:application');

/** The applications of instances that Nest constructed, whether they have the module or not. */
const applications = new WeakMap<object, Application>();
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
 * Nest injects the service and the application into instances that it constructs; {@link bind} handles instances from
 * factories. The binding is kept beside the instance and ends with it. Instances therefore show no additional property,
 * and no service passes from one application of a process to another.
 */
export class ServiceBinding {
  readonly applicationServices = new ApplicationServices();
  private readonly property = Symbol('nest-redis-lock:LockService');
  private readonly services = new WeakMap<object, LockService>();

  constructor(private readonly module: string | undefined) {}

  /** Lets Nest inject the service into instances of a class and of its subclasses. */
  injectInto(prototype: object): void {
    injectBeside(prototype, this.property, getLockServiceToken(this.module), this.services);
    injectBeside(prototype, APPLICATION, ModulesContainer, applications);
  }

  /** Binds an instance to a service, unless it needs none or has one that still runs. */
  bind(instance: unknown, service: LockService): void {
    if (typeof instance !== 'object' || instance === null || !(this.property in instance)) return;
    const bound = this.services.get(instance);
    if (bound === undefined || !this.applicationServices.isRunning(bound))
      this.services.set(instance, service);
  }

  /**
   * The service of an instance. An instance that was created after the start without Nest belongs to no application; it
   * uses the only running service of this name, if there is exactly one.
   */
  serviceOf(instance: object): LockService | undefined {
    const bound = this.services.get(instance);
    if (bound !== undefined) return bound;
    const application = applications.get(instance);
    return application === undefined
      ? this.applicationServices.onlyRunning()
      : this.applicationServices.of(application);
  }
}

/** Lets Nest inject a value beside the instances of a class, if the application has it. */
function injectBeside<T>(
  prototype: object,
  property: symbol,
  token: InjectionToken,
  kept: WeakMap<object, T>,
): void {
  if (property in prototype) return;
  Object.defineProperty(prototype, property, {
    configurable: true,
    get(this: object) {
      return kept.get(this);
    },
    set(this: object, injected: T) {
      kept.set(this, injected);
    },
  });
  Inject(token)(prototype, property);
  Optional()(prototype, property);
}
