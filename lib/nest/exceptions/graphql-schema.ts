import type { ModulesContainer } from '@nestjs/core';

/** The part of a schema that this file uses; graphql-js is not a dependency. */
export interface GraphqlSchema {
  getTypeMap(): Readonly<Record<string, GraphqlType>>;
}
interface GraphqlType {
  getFields?(): Readonly<Record<string, object>>;
  readonly extensions?: { readonly apollo?: { readonly subgraph?: object } };
}

/** The schemas of an application's GraphQL modules. */
export function graphqlSchemas(modules: ModulesContainer): ReadonlySet<GraphqlSchema> {
  const schemas = new Set<GraphqlSchema>();
  for (const { providers } of modules.values()) {
    for (const { name, instance } of providers.values()) {
      if (name !== 'GraphQLSchemaHost') continue;
      const schema: GraphqlSchema | undefined = Reflect.get(Object(instance), '_schema');
      if (schema) schemas.add(schema);
    }
  }
  return schemas;
}

/**
 * Lets `answer` convert errors for clients, also where Nest runs no filters: in fields and references, and in the
 * events of a subscription. Otherwise graphql-js sends the message of every error.
 */
export function answerErrorsOf(schema: GraphqlSchema, answer: (error: unknown) => unknown): void {
  const fail = (error: unknown): never => {
    throw answer(error);
  };
  for (const type of Object.values(schema.getTypeMap())) {
    for (const field of Object.values(type.getFields?.() ?? {})) {
      wrap(field, 'resolve', fail);
      wrap(field, 'subscribe', fail, (events) =>
        isAsyncIterable(events) ? failingWith(fail, events) : events,
      );
    }
    wrap(type.extensions?.apollo?.subgraph ?? {}, 'resolveReference', fail);
  }
}

function wrap(
  owner: object,
  name: string,
  fail: (error: unknown) => never,
  map = (result: unknown): unknown => result,
): void {
  const original: unknown = Reflect.get(owner, name);
  if (typeof original !== 'function') return;
  const wrapped = function (this: unknown, ...args: readonly unknown[]): unknown {
    try {
      const result: unknown = Reflect.apply(original, this, args);
      return result instanceof Promise ? result.then(map, fail) : map(result);
    } catch (error) {
      return fail(error);
    }
  };
  Reflect.set(owner, name, wrapped);
}

/** Not a generator, because its `return()` would wait for the pending event. */
function failingWith(
  fail: (error: unknown) => never,
  events: AsyncIterable<unknown>,
): AsyncIterableIterator<unknown> {
  const iterator = events[Symbol.asyncIterator]();
  return {
    next: () => iterator.next().catch(fail),
    return: iterator.return?.bind(iterator),
    throw: iterator.throw?.bind(iterator),
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}
