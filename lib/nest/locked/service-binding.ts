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
 * Which LockService the instances of classes with locked methods use, for one module name.
 *
 * Instances that Nest constructs get theirs injected into a property, and what tells their application; {@link bind}
 * serves those that a factory made. Either way it is kept beside the instance and ends with it, so that instances show
 * no extra property, and nothing passes from one application of a process to another.
 */
export class ServiceBinding {
  readonly applicationServices = new ApplicationServices();
  private readonly property = Symbol('nest-redis-lock:LockService');
  private readonly services = new WeakMap<object, LockService>();

  constructor(private readonly module: string | undefined) {}

  /** Lets Nest inject the service into the instances of a class, and of those that extend it. */
  injectInto(prototype: object): void {
    injectBeside(prototype, this.property, getLockServiceToken(this.module), this.services);
    injectBeside(prototype, APPLICATION, ModulesContainer, applications);
  }

  /** Gives an instance its service, unless it has no use for one or has one that still runs. */
  bind(instance: unknown, service: LockService): void {
    if (typeof instance !== 'object' || instance === null || !(this.property in instance)) return;
    const bound = this.services.get(instance);
    if (bound === undefined || !this.applicationServices.isRunning(bound))
      this.services.set(instance, service);
  }

  /**
   * The service of an instance. One that somebody else than Nest made after the start is of no application: then there
   * is an answer only where the process runs a single service of this name.
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

/** Lets Nest inject into the instances of a class, where the application has it, what is kept beside them. */
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
