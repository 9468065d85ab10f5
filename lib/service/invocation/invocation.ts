import { ResultShared } from '../../diagnostics/once.channel.js';
import type { Lock } from '../../engine/hold/lock.interface.js';
import { isLockError, type LockError } from '../../errors/lock.error.js';
import type { ResolvedLockOptions } from '../../options/lock-options.interface.js';
import type { ResolvedModuleOptions } from '../../options/module-options.interface.js';
import { Abandonment } from '../../primitives/abandonment.js';
import { Enclosure } from '../../primitives/enclosure.js';

/** Ends the wait of a call that can reuse a lock instead. No caller receives it. */
const KEPT = new ResultShared('The invocation keeps the lock.');

/** A call of a handler for a client, and everything that it calls. */
export class Invocation extends Enclosure {
  /** Locks of ended calls of its handler, which it keeps until its end. All of its code can reuse them. */
  readonly kept: Lock[] = [];
  /** The waits of its code, with their names. */
  private readonly waits = new Map<Abandonment, readonly string[]>();
  private hasBegun = false;

  /** @param client aborts when the client leaves before the reply. */
  constructor(protected readonly client: Abandonment) {
    super();
  }

  /** The innermost invocation around the caller. */
  static current(): Invocation | undefined {
    return Enclosure.find((each) => (each instanceof Invocation ? each : undefined));
  }

  /**
   * Acquires names by `request`. The wait ends when the client leaves, unless work may have begun under a lock. When the
   * invocation keeps one of the names, the request begins anew, and reuses that lock: code that the invocation awaits
   * would otherwise wait for the end of the invocation.
   *
   * @param isNested whether the caller is nested in a hold.
   */
  async acquire<T>(
    names: readonly string[],
    options: ResolvedLockOptions,
    isNested: boolean,
    request: (options: ResolvedLockOptions) => Promise<T>,
  ): Promise<T> {
    let { wait } = options;
    if (wait === 0) return request(options);
    const client = isNested || this.hasBegun ? undefined : this.client.signal;
    const end = performance.now() + wait;
    for (;;) {
      const caller = new Abandonment(options.signal, client);
      this.waits.set(caller, names);
      try {
        return await request({ ...options, wait, signal: caller.signal });
      } catch (error) {
        if (error !== KEPT) throw error;
        wait = Math.max(0, end - performance.now());
      } finally {
        this.waits.delete(caller);
      }
    }
  }

  /** Keeps a lock of an ended call. */
  protected keep(lock: Lock): void {
    this.kept.push(lock);
    for (const [caller, names] of this.waits)
      if (lock.keys.some((key) => names.includes(key))) caller.abort(KEPT);
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
