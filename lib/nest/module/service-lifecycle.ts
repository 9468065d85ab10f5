import type {
  FactoryProvider,
  OnApplicationBootstrap,
  OnApplicationShutdown,
  OnModuleInit,
} from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import type { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper.js';
import { serviceBinding } from '../locked/service-binding.js';
import type { LockService } from '../../service/lock.service.js';
import { getLockServiceToken } from '../../service/lock-service.token.js';
import { provided } from '../startup/provided-classes.js';
import { checkStart } from '../startup/start-check.js';
import { ownService } from './lock-core.module.js';
import { startObserveSpans, stopObserveSpans } from './observe-spans.js';
import { runShutdownHooksLast } from './shutdown-order.js';

/**
 * Binds the LockService to instances with locked methods from `useFactory` or `useValue`, which the property injection
 * of `@Locked` does not reach. Closes it after the shutdown hooks of all other modules, which may run work that needs
 * locks: a worker of a queue, for example, ends its jobs there.
 */
export class ServiceLifecycle implements OnModuleInit, OnApplicationBootstrap, OnApplicationShutdown {
  constructor(
    private readonly name: string | undefined,
    private readonly service: LockService,
    private readonly modules: ModulesContainer,
  ) {
    runShutdownHooksLast(modules, ServiceLifecycle);
  }

  static provider(name: string | undefined): FactoryProvider {
    return {
      provide: ServiceLifecycle,
      useFactory: (service: LockService, modules: ModulesContainer) =>
        new ServiceLifecycle(name, service, modules),
      inject: [getLockServiceToken(name), ModulesContainer],
    };
  }

  onModuleInit(): void {
    const binding = serviceBinding(this.name);
    binding.add(this.modules, this.service);
    const bind = (instance: unknown): void => binding.bind(instance, this.service);
    for (const [, wrapper] of provided(this.modules)) {
      bind(wrapper.instance);
      if (wrapper.isFactory && !(wrapper.isDependencyTreeStatic() && !wrapper.isTransient))
        bindCreatedInstances(wrapper, bind);
    }
  }

  onApplicationBootstrap(): void {
    // First, because an application that it rejects has not started.
    checkStart(this.name, this.service, this.modules);
    serviceBinding(this.name).started(this.modules, this.service);
    startObserveSpans(this.modules);
  }

  async onApplicationShutdown(): Promise<void> {
    stopObserveSpans(this.modules);
    serviceBinding(this.name).delete(this.modules, this.service);
    await ownService(this.service)?.close();
  }
}

/**
 * Wraps a factory of request-scoped or transient instances, which runs again after the start, when the application of
 * its instances is otherwise unknown.
 */
function bindCreatedInstances(wrapper: InstanceWrapper, bind: (instance: unknown) => void): void {
  for (const host of wrapper.getStaticTransientInstances()) bind(host?.instance);
  const make: unknown = wrapper.metatype;
  if (typeof make !== 'function') return;
  wrapper.metatype = async (...dependencies: unknown[]): Promise<unknown> => {
    const instance: unknown = await Reflect.apply(make, undefined, dependencies);
    bind(instance);
    return instance;
  };
}
