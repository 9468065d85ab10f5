import type { ExecutionContext } from '@nestjs/common';
import { inheritanceOf } from './instance-member.js';
import { LOCKED_METADATA, type LockedMetadata } from './locked-options.js';
import { type LockedMethod, lockedMethodsOf } from './locked-method.js';

const BOUND = /^(?:bound )+/;

/** The handler of an invocation. */
export interface InvokedHandler {
  getClass(): { readonly prototype?: object };
  getHandler(): Function;
}

const handlers = new WeakMap<object, InvokedHandler>();

/** The handler, without its invocation: one object for all invocations, because timers may keep many for hours. */
export function invokedHandler(context: ExecutionContext): InvokedHandler {
  const [type, handler] = [context.getClass(), context.getHandler()];
  const known = handlers.get(handler);
  if (known?.getClass() === type) return known;
  const created = { getClass: () => type, getHandler: () => handler };
  handlers.set(handler, created);
  return created;
}

/**
 * Whether Nest called a method for the client of an invocation: the same name in the same class, or the same metadata.
 *
 * Not by the identity of the function alone: agents and packages for AOP replace the functions of handlers, before or
 * after Nest reads them, and constructors bind them.
 *
 * @param instance the object on which the method was called.
 */
export function isHandlerOf(
  context: InvokedHandler,
  { prototype, propertyKey, metadata }: LockedMethod,
  instance: unknown,
): boolean {
  const handler = context.getHandler();
  if (metadataOf(handler).includes(metadata)) return true;
  const invoked: object | undefined = context.getClass().prototype;
  if (!isOrInherits(invoked, prototype)) return false;
  return nameOf(handler) === keyName(propertyKey) || handler === (Object(instance) as Members)[propertyKey];
}

const methodsOfHandlers = new WeakMap<object, readonly LockedMethod[]>();

/** The locked methods of an invocation's handler: one for each class that declares it with `@Locked`. */
export function lockedMethodsAt(context: ExecutionContext): readonly LockedMethod[] {
  const handler = context.getHandler();
  const known = methodsOfHandlers.get(handler);
  if (known !== undefined) return known;
  const invoked: object = context.getClass().prototype;
  const declared = Array.from(inheritanceOf(invoked), (type) => [...lockedMethodsOf(type).values()]).flat();
  const found = declared.filter((method) => isHandlerOf(context, method, invoked));
  methodsOfHandlers.set(handler, found);
  return found;
}

type Members = Record<string | symbol, unknown>;

function metadataOf(handler: object): readonly LockedMetadata[] {
  return Reflect.getMetadata(LOCKED_METADATA, handler) ?? [];
}

function isOrInherits(type: object | undefined, from: object): boolean {
  return type === from || (type !== undefined && Object.prototype.isPrototypeOf.call(from, type));
}

function nameOf({ name }: { readonly name: string }): string {
  return name.replace(BOUND, '');
}

/** The name that JavaScript gives to the function of a member. */
function keyName(key: string | symbol): string {
  return typeof key === 'string' ? key : `[${key.description ?? ''}]`;
}
