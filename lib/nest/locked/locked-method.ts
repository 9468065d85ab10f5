import { Logger } from '@nestjs/common';
import { isObservable } from 'rxjs';
import { type CallOrigin, publishSkipped } from '../../diagnostics/call-origin.js';
import { isLockError, LockConfigError, type LockError } from '../../errors/lock.error.js';
import type { LockTimeoutError } from '../../errors/lock-timeout.error.js';
import { Abandonment } from '../../primitives/abandonment.js';
import type { ResolvedModuleOptions } from '../../options/module-options.interface.js';
import { resolveCallOptions } from '../../options/presets.js';
import type { LockOptions, ResolvedLockOptions } from '../../options/lock-options.interface.js';
import type { Lock } from '../../engine/hold/lock.interface.js';
import type { CompiledKeySource } from '../../keys/key-source.js';
import { type Decorator, decoratorOf, type LockedMetadata } from './locked-options.js';
import type { LockedOptions, OnceMethodOptions } from './locked-options.js';
import { type OnceOptions, resolveOnceOptions } from '../../options/once-options.js';
import type { SharedResult } from '../../service/once/once-lock.js';
import { LockService } from '../../service/lock.service.js';
import { moduleOf } from '../../service/lock-service.token.js';
import { LOG_CONTEXT } from '../../diagnostics/lock-log.js';
import { assertNameCount } from '../../keys/lock-name.js';
import { currentLockIndexes, withCurrentLock } from './current-lock.decorator.js';
import { memberName } from './instance-member.js';
import type { ServiceBinding } from './service-binding.js';

/** A decorated method; the decorator has checked its types. */
export type AnyFunction = (...args: never[]) => unknown;

/** One method under `@Locked` or `@Once`, as known when its class is defined. */
export class LockedMethod {
  /** Name of the method in errors and warnings. */
  readonly name: string;
  readonly decorator: Decorator;
  /** The name of its RedisLockModule. */
  readonly module: string | undefined;
  /** Origins of its calls for diagnostics, by the prototype of the instance's class. */
  private readonly origins = new WeakMap<object, CallOrigin>();
  private readonly lockOptions: LockOptions;
  private readonly onTimeout: LockedOptions<never>['onTimeout'];
  private readonly lockIndexes: readonly number[];
  readonly returnsObservable: boolean;
  /** How long the result of a call is kept; undefined for `@Locked`. */
  private readonly keep: OnceOptions['keep'] | undefined;
  /** Number of runs under a lock that belonged to no invocation. */
  strayRuns = 0;
  private readonly warnings = new Set<string>();

  constructor(
    readonly prototype: object,
    readonly propertyKey: string | symbol,
    readonly original: AnyFunction,
    private readonly source: CompiledKeySource,
    readonly metadata: LockedMetadata,
    private readonly binding: ServiceBinding,
  ) {
    const { onTimeout, module, keep, ...lockOptions } = metadata.options as OnceMethodOptions<never>;
    this.name = memberName(prototype, propertyKey);
    this.decorator = decoratorOf(metadata.options);
    this.module = module;
    this.onTimeout = onTimeout;
    this.lockOptions = lockOptions;
    this.keep = keep;
    this.lockIndexes = currentLockIndexes(prototype, propertyKey);
    const type: Function | undefined = Reflect.getMetadata('design:returntype', prototype, propertyKey);
    this.returnsObservable = isObservable(type?.prototype);
  }

  /**
   * The service of an instance.
   *
   * @throws LockConfigError if there is none, or if it is ambiguous.
   */
  serviceOf(instance: object): LockService {
    const service = this.binding.serviceOf(instance);
    // A mock may be any object, and one of this class may lack any member.
    if (service instanceof LockService) return (service as Partial<LockService>).unwrapped ?? service;
    if (service !== undefined) return service;
    const constructing = constructorAround(instance);
    if (constructing !== undefined) {
      throw new LockConfigError(
        `${this.name} is ${this.decorator} and was called in the constructor of ${constructing}, before Nest injects the LockService. ` +
          'Call it in onModuleInit() or later.',
      );
    }
    throw new LockConfigError(
      `${this.name} is ${this.decorator}, but finds no LockService. Import the ${moduleOf(this.module)} in its application. In a unit test, ` +
        'import LockTestingModule of nest-redis-lock/testing, and let the testing module construct the instance, or call its init(). ' +
        'If the instance is created after the start and several applications run in this process, let Nest construct it.',
    );
  }

  /** The origin of a call for diagnostics; the label of an inherited method names the class of the instance. */
  originOf(instance: object): CallOrigin {
    const isInstance = Object.prototype.isPrototypeOf.call(this.prototype, instance);
    const prototype: object = isInstance ? Object.getPrototypeOf(instance) : this.prototype;
    const known = this.origins.get(prototype);
    if (known !== undefined) return known;
    const method = prototype.constructor.name === '' ? this.name : memberName(prototype, this.propertyKey);
    const origin = { method, template: this.source.template };
    this.origins.set(prototype, origin);
    return origin;
  }

  /**
   * Rejects a call without a lock, which is the result of an automatic mock of LockService.
   *
   * @throws LockConfigError that names LockTestingModule.
   */
  assertGranted(lock: Lock | undefined): void {
    if (Object(lock) !== lock) throw this.mocked();
  }

  /**
   * Rejects a lock without a signal, by which a stream learns of the loss. Only a mock has none.
   *
   * @throws LockConfigError that names LockTestingModule.
   */
  assertEndsStreams(lock: Partial<Lock>): void {
    if (typeof lock.signal?.aborted !== 'boolean') throw this.mocked();
  }

  /** The error of a call whose LockService is a mock that acquires nothing. */
  private mocked(): LockConfigError {
    return new LockConfigError(
      `${this.name} is ${this.decorator}, but its LockService is a mock that acquires nothing. Add LockTestingModule.forRoot() of ` +
        'nest-redis-lock/testing to the imports of the testing module: it provides real locks in memory, which useMocker does not replace.',
    );
  }

  /**
   * Resolves its options with the presets and the defaults of its module.
   *
   * @throws LockConfigError naming the method, for options that can never work there.
   */
  optionsIn(module: ResolvedModuleOptions): ResolvedLockOptions {
    try {
      if (this.keep === undefined) return resolveCallOptions(module, this.lockOptions);
      return resolveOnceOptions(module, { ...this.lockOptions, keep: this.keep }).lock;
    } catch (cause) {
      throw new LockConfigError(
        `${this.name} is ${this.decorator} with options that cannot work: ${(cause as Error).message}`,
        { cause },
      );
    }
  }

  /** Warns once about a method whose callers receive a Promise instead of the expected Observable. */
  warnOfUntypedStream(): void {
    this.warnOnce(
      `${this.name} returns an Observable, but its metadata does not say so, so its calls return a Promise of the Observable. ` +
        'Name Observable as its return type, and import it without "type".',
    );
  }

  /** Warns once about a handler whose call did not find its invocation. */
  warnOfLostInvocation(): void {
    this.warnOnce(
      `${this.name} is the handler of a request, but its call did not find that request. Its lock was released when the ` +
        'method ended, before the interceptors had ended, so a transaction of an interceptor committed without the lock. ' +
        `Probably a decorator above ${this.decorator} calls the method from the callback of a pool or an event emitter, which loses ` +
        `the async context. Put ${this.decorator} above that decorator, or pass the callback through AsyncResource.bind().`,
    );
  }

  private warnOnce(warning: string): void {
    if (!this.warnings.has(warning)) Logger.warn(warning, LOG_CONTEXT);
    this.warnings.add(warning);
  }

  /** The lock names of a call. */
  keys(instance: object, args: readonly unknown[]): readonly string[] {
    const names = this.source.resolve(args, this.name, instance);
    assertNameCount(names, this.name);
    return names;
  }

  /** The options of an acquire that ends when its client or its caller leaves. */
  optionsOf(client: Abandonment | undefined, caller: Abandonment | undefined): LockOptions {
    const end = client && caller ? new Abandonment(client.signal, caller.signal) : (client ?? caller);
    return end === undefined ? this.lockOptions : { ...this.lockOptions, signal: end.signal };
  }

  /** The error of a run whose result is a stream, of which nothing is kept. */
  unkeptStream(): LockConfigError {
    return new LockConfigError(
      `${this.name} is @Once, but its result is an Observable, which cannot be kept. The work has run. Return a Promise of ` +
        'one result, for example with firstValueFrom().',
    );
  }

  /** Requests the locks of a call, or the result of another run. */
  request(
    service: Partial<LockService>,
    keys: readonly string[],
    options: LockOptions,
  ): Promise<Lock | SharedResult> {
    // A mock may have only the methods that its test calls.
    if (this.keep === undefined) {
      if (typeof service.acquire !== 'function') throw this.mocked();
      return service.acquire(keys, options);
    }
    const [name = ''] = keys;
    if (keys.length > 1)
      throw new LockConfigError(
        `${this.name} is @Once with several names, but a result belongs to one name.`,
        { keys },
      );
    if (typeof service.enterOnce !== 'function') throw this.mocked();
    return service.enterOnce(name, { ...options, keep: this.keep });
  }

  run(instance: object, args: readonly unknown[], lock: Lock): unknown {
    return Reflect.apply(this.original, instance, withCurrentLock(args, this.lockIndexes, lock));
  }

  /** The result of a call without a lock, from `onTimeout`; otherwise throws the error. */
  refuse(error: unknown, instance: object, args: readonly unknown[]): unknown {
    if (this.onTimeout === undefined || this.onTimeout === 'throw') throw error;
    if (!isLockError(error) || error.code !== 'LOCK_TIMEOUT') throw error;
    if (this.onTimeout === 'skip') return this.skip(error, instance);
    return Reflect.apply(this.onTimeout, instance, [error as LockTimeoutError, ...args]);
  }

  private skip({ keys }: LockError, instance: object): void {
    const origin = this.originOf(instance);
    Logger.debug(
      `${origin.method} was skipped: ${keys.join(', ')} was taken for the whole wait.`,
      LOG_CONTEXT,
    );
    publishSkipped(origin, keys);
  }
}

/**
 * The class of an instance whose constructor is on the call stack. Nothing else reveals an unfinished instance.
 */
function constructorAround(instance: object): string | undefined {
  const constructors = new Error().stack?.matchAll(/ at new (\S+) \(/g) ?? [];
  const names = new Set(Array.from(constructors, ([, name]) => name));
  for (let type: object = Object(instance); type !== null; type = Object.getPrototypeOf(type)) {
    if (names.has(type.constructor.name)) return type.constructor.name;
  }
  return undefined;
}

const methods = new WeakMap<object, Map<string | symbol, LockedMethod>>();

/** The functions that replace locked methods. */
const wrappers = new WeakSet<object>();

export function recordLockedMethod(method: LockedMethod, wrapper: object): void {
  const { prototype, propertyKey } = method;
  const own = methods.get(prototype) ?? new Map<string | symbol, LockedMethod>();
  methods.set(prototype, own.set(propertyKey, method));
  wrappers.add(wrapper);
}

/** The locked methods that a class declares itself, by name. */
export function lockedMethodsOf(prototype: object): ReadonlyMap<string | symbol, LockedMethod> {
  return methods.get(prototype) ?? new Map();
}

/** Whether a function replaces a locked method, and was not replaced since. */
export function isLockedFunction(method: object): boolean {
  return wrappers.has(method);
}
