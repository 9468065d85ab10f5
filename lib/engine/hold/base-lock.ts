import { inspect, type InspectOptions } from 'node:util';
import type { Lock } from './lock.interface.js';

/** What all kinds of locks do in the same way. */
export abstract class BaseLock {
  abstract readonly remaining: number;
  abstract release(): Promise<void>;

  get held(): boolean {
    return this.remaining > 0;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }

  /** Logs and JSON show what the caller sees of a lock: not its connection, which has a password. */
  toJSON(this: Lock): Pick<Lock, 'fencingToken' | 'held' | 'keys' | 'remaining'> {
    const { fencingToken, held, keys, remaining } = this;
    return { keys, fencingToken, held, remaining };
  }

  [inspect.custom](this: Lock & BaseLock, _depth: number, options: InspectOptions): string {
    return `Lock ${inspect(this.toJSON(), options)}`;
  }
}
