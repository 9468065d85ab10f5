import type {
  FactoryProvider,
  InjectionToken,
  OnApplicationBootstrap,
  OnApplicationShutdown,
  OnModuleInit,
} from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { serviceBinding } from '../decorators/service-binding.js';
import type { LockService } from '../lock.service.js';
import { StartCheck } from '../start/start-check.js';

/**
 * Gives the LockService to instances that have locked methods and were not constructed by Nest but by a
 * `useFactory` or given as `useValue`, where the property injection of `@Locked` does not reach.
 */
export class LockedInstanceBinder implements OnModuleInit, OnApplicationBootstrap, OnApplicationShutdown {
  constructor(
    private readonly connection: string | undefined,
    private readonly service: LockService,
    private readonly token: InjectionToken,
    private readonly modules: ModulesContainer,
    private readonly startCheck: StartCheck,
  ) {}

  static provider(connection: string | undefined, token: InjectionToken): FactoryProvider {
    return {
      provide: LockedInstanceBinder,
      useFactory: (service: LockService, modules: ModulesContainer, startCheck: StartCheck) =>
        new LockedInstanceBinder(connection, service, token, modules, startCheck),
      inject: [token, ModulesContainer, StartCheck],
    };
  }

  onModuleInit(): void {
    const binding = serviceBinding(this.connection);
    binding.applicationServices.add(this.modules, this.service);
    // With several to choose from, only the call itself can tell that the choice is not ours to make.
    if (this.servicesInApplication().size > 1) return;
    for (const instance of this.instances()) binding.bind(instance, this.service);
  }

  onApplicationBootstrap(): void {
    // First: an application that it refuses has not started.
    this.startCheck.run();
    serviceBinding(this.connection).applicationServices.started(this.modules, this.service);
  }

  onApplicationShutdown(): void {
    serviceBinding(this.connection).applicationServices.delete(this.modules, this.service);
  }

  private servicesInApplication(): Set<unknown> {
    const wrappers = [...this.modules.values()].map((module) => module.providers.get(this.token));
    return new Set(wrappers.flatMap((wrapper) => (wrapper ? [wrapper.instance] : [])));
  }

  private *instances(): Iterable<unknown> {
    for (const module of this.modules.values()) {
      for (const collection of [module.providers, module.controllers, module.injectables]) {
        for (const wrapper of collection.values()) yield wrapper.instance;
      }
    }
  }
}
