import type { LockService } from '../../service/lock.service.js';

/** What tells the applications of a process apart: the container of its modules. */
export type Application = object;

/**
 * The services of one module name, by the application that they belong to.
 *
 * Nest tells an application that fails to start of no end, so nothing here keeps one alive, and it does not count as
 * running before all that can be known of its start has gone well.
 */
export class ApplicationServices {
  private readonly present = new WeakMap<Application, LockService>();
  private readonly running = new Map<LockService, WeakRef<Application>>();

  /** Of an application that begins to start. */
  add(application: Application, service: LockService): void {
    this.present.set(application, service);
  }

  /** Its application has started. */
  started(application: Application, service: LockService): void {
    this.forgetGone();
    this.running.set(service, new WeakRef(application));
  }

  /** Its application has ended. */
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

  /** The service of the one application that runs with one, if there is one. */
  onlyRunning(): LockService | undefined {
    this.forgetGone();
    const [first, second] = this.running.keys();
    return second === undefined ? first : undefined;
  }

  /** Applications that nobody has any more, and nobody has told to end. */
  private forgetGone(): void {
    for (const service of this.running.keys()) if (!this.isRunning(service)) this.running.delete(service);
  }
}
