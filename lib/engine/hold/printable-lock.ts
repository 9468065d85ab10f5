import { inspect, type InspectOptions } from 'node:util';
import type { Lock } from './lock.interface.js';

/** A lock of which logs and JSON show what its caller sees: not its connection, which has a password. */
export abstract class PrintableLock {
  toJSON(this: Lock): Pick<Lock, 'fencingToken' | 'held' | 'keys' | 'remaining'> {
    const { fencingToken, held, keys, remaining } = this;
    return { keys, fencingToken, held, remaining };
  }

  [inspect.custom](this: Lock & PrintableLock, _depth: number, options: InspectOptions): string {
    return `Lock ${inspect(this.toJSON(), options)}`;
  }
}
