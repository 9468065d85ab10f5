import { Inject, Optional } from '@nestjs/common';
import type { LockService } from '../lock.service.js';
import { getLockServiceToken } from '../module/lock-service.token.js';

const bindings = new Map<string | undefined, ServiceBinding>();

/** The binding of one connection name; undefined is the module without a name. */
export function serviceBinding(connection: string | undefined): ServiceBinding {
  const known = bindings.get(connection);
  if (known !== undefined) return known;
  const binding = new ServiceBinding(connection);
  bindings.set(connection, binding);
  return binding;
}

/**
 * Which LockService the instances of classes with locked methods use, for one connection name.
 *
 * Instances that Nest constructs get theirs injected into a property; {@link bind} serves those that a
 * factory made. Either way it is kept beside the instance and ends with it, so that instances show no extra
 * property, and nothing passes from one application of a process to another.
 */
export class ServiceBinding {
  private readonly property = Symbol('nest-redis-lock:LockService');
  private readonly services = new WeakMap<object, LockService>();
  private readonly running = new Set<LockService>();

  constructor(private readonly connection: string | undefined) {}

  /** Lets Nest inject the service into the instances of a class, and of those that extend it. */
  injectInto(prototype: object): void {
    if (this.property in prototype) return;
    const { property, services } = this;
    Object.defineProperty(prototype, property, {
      configurable: true,
      get(this: object) {
        return services.get(this);
      },
      set(this: object, service: LockService) {
        services.set(this, service);
      },
    });
    Inject(getLockServiceToken(this.connection))(prototype, property);
    Optional()(prototype, property);
  }

  /** Gives an instance its service, unless it has no use for one or has one that still runs. */
  bind(instance: unknown, service: LockService): void {
    if (typeof instance !== 'object' || instance === null || !(this.property in instance)) return;
    const bound = this.services.get(instance);
    if (bound === undefined || !this.running.has(bound)) this.services.set(instance, service);
  }

  /**
   * The service of an instance. One that was made after its application started is bound to none: then there
   * is an answer only where the process runs a single service of this name.
   */
  serviceOf(instance: object): LockService | undefined {
    return this.services.get(instance) ?? this.onlyRunning();
  }

  started(service: LockService): void {
    this.running.add(service);
  }

  stopped(service: LockService): void {
    this.running.delete(service);
  }

  private onlyRunning(): LockService | undefined {
    if (this.running.size !== 1) return undefined;
    const [service] = this.running;
    return service;
  }
}
