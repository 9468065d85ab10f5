import { SetMetadata } from '@nestjs/common';
import { ExternalContextCreator } from '@nestjs/core';
import { RouterExecutionContext } from '@nestjs/core/router/router-execution-context.js';
import { RpcContextCreator } from '@nestjs/microservices/context/rpc-context-creator.js';
import { WsContextCreator } from '@nestjs/websockets/context/ws-context-creator.js';

type Callable = (...args: unknown[]) => unknown;

/** A function around another one, with the metadata of that one, by reference. */
function around(original: Callable, call: (self: unknown, args: unknown[]) => unknown): Callable {
  const wrapper = function (this: unknown, ...args: unknown[]): unknown {
    return call(this, args);
  };
  Object.defineProperty(wrapper, 'name', { value: original.name });
  for (const key of Reflect.getMetadataKeys(original))
    Reflect.defineMetadata(key, Reflect.getMetadata(key, original), wrapper);
  return wrapper;
}

/** An instance behind a Proxy whose methods run on the instance itself, as tools of observation have it. */
export function behindProxy(instance: object): object {
  const wrappers = new Map<Callable, Callable>();
  return new Proxy(instance, {
    get(target, key, receiver) {
      const member: unknown = Reflect.get(target, key, receiver);
      if (typeof member !== 'function' || key === 'constructor') return member;
      const method = member as Callable;
      const known =
        wrappers.get(method) ?? around(method, (_self, args) => Reflect.apply(method, target, args));
      wrappers.set(method, known);
      return known;
    },
  });
}

const INSTRUMENTED = 'compositions:instrumented';

/** Marks a handler that an agent instruments. */
export const Instrumented = (): MethodDecorator => SetMetadata(INSTRUMENTED, true);

/** A part of Nest that creates what calls a handler. */
interface ContextCreator {
  create: (this: ContextCreator, instance: object, callback: Callable, ...rest: unknown[]) => unknown;
}

const creators = [RouterExecutionContext, RpcContextCreator, WsContextCreator, ExternalContextCreator].map(
  ({ prototype }) => prototype as unknown as ContextCreator,
);
const originals = new Map<ContextCreator, ContextCreator['create']>();

/** Lets an agent replace the function of each marked handler where Nest reads it. */
export function instrument(): void {
  for (const creator of creators) {
    const original = creator.create;
    originals.set(creator, original);
    creator.create = function (this: ContextCreator, instance, callback, ...rest) {
      const isMarked = Reflect.getMetadata(INSTRUMENTED, callback) === true;
      const called = isMarked
        ? around(callback, (self, args) => Reflect.apply(callback, self, args))
        : callback;
      return original.call(this, instance, called, ...rest);
    };
  }
}

export function uninstrument(): void {
  for (const [creator, original] of originals) creator.create = original;
  originals.clear();
}
