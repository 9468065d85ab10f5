import type { FactoryProvider, InjectionToken, OnApplicationShutdown, OnModuleInit } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { serviceBinding } from '../decorators/service-binding.js';
import type { LockService } from '../lock.service.js';

/**
 * Gives the LockService to instances that have locked methods and were not constructed by Nest but by a
 * `useFactory` or given as `useValue`, where the property injection of `@Locked` does not reach.
 */
export class LockedInstanceBinder implements OnModuleInit, OnApplicationShutdown {
  constructor(
    private readonly connection: string | undefined,
    private readonly service: LockService,
    private readonly token: InjectionToken,
    private readonly modules: ModulesContainer,
  ) {}

  static provider(connection: string | undefined, token: InjectionToken): FactoryProvider {
    return {
      provide: LockedInstanceBinder,
      useFactory: (service: LockService, modules: ModulesContainer) =>
        new LockedInstanceBinder(connection, service, token, modules),
      inject: [token, ModulesContainer],
    };
  }

  onModuleInit(): void {
    const binding = serviceBinding(this.connection);
    binding.started(this.service);
    // With several to choose from, only the call itself can tell that the choice is not ours to make.
    if (this.servicesInApplication().size > 1) return;
    for (const instance of this.instances()) binding.bind(instance, this.service);
  }

  onApplicationShutdown(): void {
    serviceBinding(this.connection).stopped(this.service);
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
