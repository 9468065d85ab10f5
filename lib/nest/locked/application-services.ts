import type { LockService } from '../../service/lock.service.js';

/** Identifies an application in a process: the container of its modules. */
export type Application = object;

/**
 * The services of one module name, by their application.
 *
 * Nest calls no shutdown hook of an application that fails to start. This class therefore keeps no application alive,
 * and an application counts as running only after its start has succeeded as far as known.
 */
export class ApplicationServices {
  private readonly present = new WeakMap<Application, LockService>();
  private readonly running = new Map<LockService, WeakRef<Application>>();

  /** Adds the service of a starting application. */
  add(application: Application, service: LockService): void {
    this.present.set(application, service);
  }

  /** Records that the application has started. */
  started(application: Application, service: LockService): void {
    this.forgetGone();
    this.running.set(service, new WeakRef(application));
  }

  /** Removes the service of an application that has ended. */
  delete(application: Application, service: LockService): void {
    this.present.delete(application);
    this.running.delete(service);
  }

  isRunning(service: LockService): boolean {
    return this.running.get(service)?.deref() !== undefined;
  }

  /** The service of an application. */
  of(application: Application): LockService | undefined {
    return this.present.get(application);
  }

  /** The service of the only running application; undefined if none or several run. */
  onlyRunning(): LockService | undefined {
    this.forgetGone();
    const [first, second] = this.running.keys();
    return second === undefined ? first : undefined;
  }

  /** Removes applications that were collected without a shutdown. */
  private forgetGone(): void {
    for (const service of this.running.keys()) if (!this.isRunning(service)) this.running.delete(service);
  }
}
