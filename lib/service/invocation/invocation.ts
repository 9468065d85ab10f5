import { AsyncLocalStorage } from 'node:async_hooks';
import { isLockError, type LockError } from '../../errors/lock.error.js';
import type { ResolvedModuleOptions } from '../../options/module-options.interface.js';
import type { Abandonment } from '../../primitives/abandonment.js';

const storage = new AsyncLocalStorage<Invocation>();

/** A call of a handler for a client, and everything that runs below it. */
export class Invocation {
  private hasBegun = false;

  /** @param client aborts when the client leaves before the reply. */
  constructor(protected readonly client: Abandonment) {}

  /** The innermost invocation around the caller. */
  static current(): Invocation | undefined {
    return storage.getStore();
  }

  /** Runs `work` in this invocation. */
  run<T>(work: () => T): T {
    return storage.run(this, work);
  }

  /** Ends a wait of this invocation when the client leaves; undefined once work may have begun under a lock. */
  get firstWait(): Abandonment | undefined {
    return this.hasBegun ? undefined : this.client;
  }

  /** Lets later waits continue without the client: work under a lock may have begun, or the reply is there. */
  begin(): void {
    this.hasBegun = true;
  }
}

const origins = new WeakMap<LockError, ResolvedModuleOptions>();

/** Notes the options of the module that an error comes from, unless an inner call has noted them. */
export function noteOrigin(error: unknown, options: ResolvedModuleOptions | undefined): void {
  if (options !== undefined && isLockError(error) && !origins.has(error)) origins.set(error, options);
}

/** The options of the module that an error comes from, if a call has noted them. */
export function originOf(error: LockError): ResolvedModuleOptions | undefined {
  return origins.get(error);
}
