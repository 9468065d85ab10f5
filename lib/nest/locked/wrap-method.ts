import { Observable } from 'rxjs';
import { LockedCall } from './locked-call.js';
import type { AnyFunction, LockedMethod } from './locked-method.js';
import { LockSlot } from './lock-slot.js';

/** Creates the function that replaces a method, with its name, its length and the metadata of decorators below. */
export function wrapMethod(method: LockedMethod): AnyFunction {
  const { original, prototype, propertyKey } = method;
  const wrapper = new Proxy(original, {
    apply(_original, instance: object, args: unknown[]): unknown {
      const current = LockSlot.current();
      const own = current?.isOfMethod(prototype, propertyKey, wrapper) === true ? current : undefined;
      const run = () => new LockedCall(method, instance, args, own?.claim(method) === true ? own : undefined);
      if (!method.returnsObservable) return run().settle();
      return new Observable((subscriber) => void run().stream(subscriber));
    },
  });
  for (const key of Reflect.getOwnMetadataKeys(original)) {
    Reflect.defineMetadata(key, Reflect.getOwnMetadata(key, original), wrapper);
  }
  return wrapper;
}
