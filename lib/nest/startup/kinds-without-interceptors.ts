import { INTERCEPTORS_METADATA } from '@nestjs/common/constants.js';
import type { ModulesContainer } from '@nestjs/core';
import { LockInterceptor } from '../locked/lock.interceptor.js';

/** Metadata keys of other packages, written as text because an import would add a dependency. */
const OF_METHODS: readonly (readonly [key: string, kind: string])[] = [
  ['SCHEDULER_TYPE', 'scheduled jobs'],
  ['EVENT_LISTENER_METADATA', 'event listeners'],
];
const OF_CLASSES: readonly (readonly [key: string, kind: string])[] = [
  ['bullmq:processor_metadata', 'queue processors'],
  ['__commandHandler__', 'command handlers'],
  ['__queryHandler__', 'query handlers'],
  ['__eventsHandler__', 'event handlers'],
];

/** Metadata keys of the handlers that Nest calls through interceptors. */
const OF_HANDLERS = ['path', 'microservices:pattern', 'websockets:message_mapping', 'graphql:resolver_type'];

/** Whether Nest calls a method through interceptors. Its lock is then held until all interceptors have ended. */
export function isHandler(method: object): boolean {
  return OF_HANDLERS.some((key) => Reflect.hasMetadata(key, method));
}

export function isScheduled(method: object): boolean {
  return Reflect.hasMetadata('SCHEDULER_TYPE', method);
}

/** The kind of a method that has interceptors, or whose class has them, although Nest calls it without them. */
export function kindIgnoringInterceptors(
  method: object,
  type: object,
  modules: ModulesContainer,
): string | undefined {
  const ofClass = kindOf(OF_CLASSES, type);
  if (!hasInterceptors(method)) return hasInterceptors(type) ? ofClass : undefined;
  if (Reflect.hasMetadata('graphql:resolve_property', method) && !fieldsHaveInterceptors(modules))
    return "GraphQL fields without fieldResolverEnhancers: ['interceptors']";
  return kindOf(OF_METHODS, method) ?? ofClass;
}

/** Whether interceptors exist besides the one that @Locked registers on the class. */
function hasInterceptors(target: object): boolean {
  const registered: unknown[] = Reflect.getMetadata(INTERCEPTORS_METADATA, target) ?? [];
  return registered.some((interceptor) => interceptor !== LockInterceptor);
}

function fieldsHaveInterceptors(modules: ModulesContainer): boolean {
  return [...modules.values()].some((module) => {
    const options: unknown = module.providers.get('GqlModuleOptions')?.instance;
    const { fieldResolverEnhancers = [] } = (options ?? {}) as { fieldResolverEnhancers?: readonly string[] };
    return fieldResolverEnhancers.includes('interceptors');
  });
}

function kindOf(known: typeof OF_METHODS, target: object): string | undefined {
  return known.find(([key]) => Reflect.hasMetadata(key, target))?.[1];
}
