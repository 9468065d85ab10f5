import { isLockError, type LockError } from '../../errors/lock.error.js';
import type { ResolvedModuleOptions } from '../../options/module-options.interface.js';
import type { Abandonment } from '../../primitives/abandonment.js';
import { Enclosure } from '../../primitives/enclosure.js';

/** A call of a handler for a client, and everything that it calls. */
export class Invocation extends Enclosure {
  private hasBegun = false;

  /** @param client aborts when the client leaves before the reply. */
  constructor(protected readonly client: Abandonment) {
    super();
  }

  /** The innermost invocation around the caller. */
  static current(): Invocation | undefined {
    return Enclosure.find((each) => (each instanceof Invocation ? each : undefined));
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
