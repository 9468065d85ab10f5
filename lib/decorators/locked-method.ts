import { Logger } from '@nestjs/common';
import { Observable } from 'rxjs';
import type { CallOrigin } from '../diagnostics/call-origin.js';
import { LockConfigError } from '../errors/lock-config.error.js';
import type { LockTimeoutError } from '../errors/lock-timeout.error.js';
import { isLockError } from '../errors/lock.error.js';
import type { Abandonment } from '../interceptors/abandonment.js';
import { EitherSignal } from '../interceptors/either-signal.js';
import { LockSlot } from '../interceptors/lock-slot.js';
import type { LockOptions } from '../interfaces/lock-options.interface.js';
import type { Lock } from '../interfaces/lock.interface.js';
import type { CompiledKeySource } from '../keys/key-source.js';
import type { LockedOptions } from '../keys/locked-options.interface.js';
import type { LockService } from '../lock.service.js';
import { LOG_CONTEXT } from '../store/log-context.js';
import { copyMetadata } from './copy-metadata.js';
import { currentLockIndexes, withCurrentLock } from './current-lock.decorator.js';
import { LockedCall } from './locked-call.js';
import type { ServiceBinding } from './service-binding.js';

/** A method as the decorator finds it; its types were checked where it is decorated. */
export type AnyFunction = (...args: never[]) => unknown;

/** One method under `@Locked`: what is known about it when its class is defined. */
export class LockedMethod {
  /** How errors and warnings name the method. */
  readonly name: string;
  readonly connection: string | undefined;
  /** What diagnostics tell of its calls. */
  readonly origin: CallOrigin;
  private readonly lockOptions: LockOptions;
  private readonly onTimeout: LockedOptions<never>['onTimeout'];
  private readonly lockIndexes: readonly number[];
  private readonly returnsObservable: boolean;
  private wrapper: AnyFunction | undefined;
  private warned = false;

  constructor(
    private readonly prototype: object,
    private readonly propertyKey: string | symbol,
    private readonly original: AnyFunction,
    private readonly source: CompiledKeySource,
    { onTimeout, connection, ...lockOptions }: LockedOptions<never>,
    private readonly binding: ServiceBinding,
  ) {
    this.name = `${prototype.constructor.name}.${String(propertyKey)}`;
    this.origin = { method: this.name, template: source.template };
    this.connection = connection;
    this.onTimeout = onTimeout;
    this.lockOptions = lockOptions;
    this.lockIndexes = currentLockIndexes(prototype, propertyKey);
    this.returnsObservable = isObservableClass(
      Reflect.getMetadata('design:returntype', prototype, propertyKey),
    );
  }

  /**
   * The service of an instance.
   *
   * @throws LockConfigError where there is none, or no telling which.
   */
  serviceOf(instance: object): LockService {
    const service = this.binding.serviceOf(instance);
    if (service !== undefined) return service;
    const module =
      this.connection === undefined ? 'RedisLockModule' : `RedisLockModule named '${this.connection}'`;
    throw new LockConfigError(
      `${this.name} is @Locked, but finds no LockService. Import the ${module} in its application; and where the ` +
        'instance is made after the start while several applications run in this process, let Nest construct it.',
    );
  }

  /** Its own lease in milliseconds, if it has one. */
  get ttl(): number | undefined {
    return this.lockOptions.ttl;
  }

  /** Once for a method whose callers get a Promise of the Observable that they expect. */
  warnOfUntypedStream(): void {
    if (this.warned) return;
    this.warned = true;
    Logger.warn(
      `${this.name} returns an Observable, but its metadata does not say so: its calls give a Promise of it. ` +
        'Name Observable as its return type, and import it without "type".',
      LOG_CONTEXT,
    );
  }

  /** The function that takes the method's place, with its name, length and metadata. */
  wrap(): AnyFunction {
    const wrapper = new Proxy(this.original, {
      apply: (_original, instance: object, args: unknown[]) => this.call(instance, args),
    });
    copyMetadata(this.original, wrapper);
    this.wrapper = wrapper;
    return wrapper;
  }

  /** The lock names of a call. */
  keys(args: readonly unknown[]): string[] {
    return this.source.resolve(args, this.name);
  }

  /** The options of an acquire that ends when the caller abandons it. */
  optionsOf(abandoned: Abandonment | undefined): LockOptions {
    if (abandoned === undefined) return this.lockOptions;
    const { signal } = this.lockOptions;
    if (signal === undefined) return { ...this.lockOptions, signal: abandoned.signal };
    return { ...this.lockOptions, signal: new EitherSignal([signal, abandoned.signal]).signal };
  }

  /** Runs the method itself. */
  run(instance: object, args: readonly unknown[], lock: Lock): unknown {
    return Reflect.apply(this.original, instance, withCurrentLock(args, this.lockIndexes, lock));
  }

  /** What a call gives that got no lock; throws the error that kept it from one where that is the answer. */
  refuse(error: unknown, args: readonly unknown[]): unknown {
    if (this.onTimeout === undefined || this.onTimeout === 'throw') throw error;
    if (!isLockError(error) || error.code !== 'LOCK_TIMEOUT') throw error;
    if (this.onTimeout === 'skip') return undefined;
    return Reflect.apply(this.onTimeout, undefined, [error as LockTimeoutError, ...args]);
  }

  private call(instance: object, args: readonly unknown[]): unknown {
    const current = LockSlot.current();
    const own =
      current?.isOfMethod(this.prototype, this.propertyKey, this.wrapper) === true ? current : undefined;
    const run = () => new LockedCall(this, instance, args, own?.claim() === true ? own : undefined);
    if (!this.returnsObservable) return run().settle();
    return new Observable((subscriber) => void run().stream(subscriber));
  }
}

/** By its shape, for rxjs may be loaded more than once. */
function isObservableClass(type: unknown): boolean {
  if (typeof type !== 'function') return false;
  return typeof (type.prototype as Partial<Observable<unknown>> | undefined)?.subscribe === 'function';
}
