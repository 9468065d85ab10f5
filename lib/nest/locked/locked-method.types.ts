import type { Observable } from 'rxjs';
import type { KeyFunction, KeySource } from '../../keys/key-source.js';
import type {
  InstanceDemand,
  MethodArguments,
  TemplateDemand,
  TemplateProblem,
} from '../../keys/key-template.types.js';
import type { JsonValue } from '../../service/once/result.js';
import type { LockedOptions, OnceMethodOptions } from './locked-options.js';

/** The result of a locked method, whose end is also the end of the hold. */
export type LockedResult = Promise<unknown> | Observable<unknown>;

/**
 * The type of `Locked`: keeps the literal type of the key, and returns a decorator for the methods that the key fits.
 *
 * @example
 * ```ts
 * export const Locked: LockedDecoratorFactory =
 *   (key, options) =>
 *   (target: object, propertyKey: string | symbol, descriptor: PropertyDescriptor) => { … };
 * ```
 */
export type LockedDecoratorFactory = <
  const K extends KeySource,
  B extends MethodArguments = [],
  R = never,
  W extends 'throw' | 'skip' = 'throw',
>(
  key: K,
  presetOrOptions?: string | LockedOptions<B, R, W>,
) => LockedDecorator<K, B, R | SkippedBy<W>>;

/** The type of `Once`: keeps the literal type of the key, and returns a decorator for the methods that the key fits. */
export type OnceDecoratorFactory = <
  const K extends string | KeyFunction,
  B extends MethodArguments = [],
  R = never,
  W extends 'throw' | 'skip' = 'throw',
>(
  key: K,
  options: OnceMethodOptions<B, R, W>,
) => OnceDecorator<K, B, R | SkippedBy<W>>;

/** A method decorator for methods that return a Promise of JSON data, whose arguments fill the key `K`. */
export type OnceDecorator<
  K extends string | KeyFunction,
  B extends MethodArguments = [],
  R = never,
> = LockedDecorator<K, B, R, true>;

/** The result of `onTimeout: 'skip'`; a word that is unknown at compile time is not checked. */
type SkippedBy<Word> = [Word] extends ['skip'] ? undefined : never;

/**
 * A method decorator for methods that return a {@link LockedResult}, whose arguments fill the key `K` and fit
 * `onTimeout` (`B`), and whose results include those of `onTimeout` (`R`). If results are kept (`Keeps`), the methods
 * return a Promise of JSON data.
 *
 * The first and the last signature compute a sentence about a method that does not fit. TypeScript 5 and 6 report this
 * sentence first, TypeScript 7 reports it alone. The second signature decides by assignability, so that it also works
 * for the type parameters of a generic class. The first and the second check the results of `onTimeout` by
 * assignability, for methods with and without parameters.
 */
export interface LockedDecorator<
  K extends KeySource,
  B extends MethodArguments = [],
  R = never,
  Keeps extends boolean = false,
> {
  <M extends AnyMethod, S extends object>(
    target: S,
    propertyKey: string | symbol,
    descriptor: { value?: M } & Substitutes<R> &
      Unless<KeyProblem<K, M, S> | TimeoutProblem<B, M> | ResultProblem<M, Keeps>>,
  ): void;
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- A is the constraint that the compiler checks
  <A extends KeyDemand<K> & BeginsWith<B>, M extends AnyMethod>(
    target: TargetDemand<K>,
    propertyKey: string | symbol,
    descriptor: { value?: (...args: A) => LockedResult } & { value?: M } & WithParameters<M> &
      Substitutes<R> &
      Unless<ResultProblem<M, Keeps>>,
  ): void;
  <M extends AnyMethod, S extends object>(
    target: S,
    propertyKey: string | symbol,
    descriptor: { value?: M } & Unless<
      KeyProblem<K, M, S> | TimeoutProblem<B, M> | ResultProblem<M, Keeps> | SubstituteProblem<R, M>
    >,
  ): void;
}

type AnyMethod = (...args: never[]) => unknown;

/** Arguments that begin with those of a function; further ones are free. */
type BeginsWith<Args extends MethodArguments> = number extends Args['length']
  ? Args
  : readonly [...Args, ...unknown[]];

/**
 * The type to which the arguments of a key must be assignable.
 *
 * For other arguments, the compiler continues with this type in their place. As an intersection of readonly arrays it
 * fits no list of parameters, so the signature is rejected; a plain tuple could fit one.
 */
type KeyDemand<K extends KeySource> = MethodArguments &
  (K extends KeyFunction ? BeginsWith<Parameters<K>> : TemplateDemand<TemplatesOf<K>>);

/** The templates of a key that is no function. */
type TemplatesOf<K extends KeySource> = K extends readonly string[] ? K[number] : K & string;

/** A method without parameters accepts any arguments, so the second signature must check it. */
type WithParameters<M extends AnyMethod> = Parameters<M> extends readonly [] ? never : unknown;

/** The type to which the instance of a key must be assignable. */
type TargetDemand<K extends KeySource> = K extends KeyFunction
  ? object & ThisParameterType<K>
  : InstanceDemand<TemplatesOf<K>>;

type KeyProblem<K extends KeySource, M extends AnyMethod, S> = K extends KeyFunction
  ? Parameters<M> extends BeginsWith<Parameters<K>>
    ? [S] extends [ThisParameterType<K>]
      ? never
      : 'nest-redis-lock: the key function is for instances of another class'
    : 'nest-redis-lock: the key function does not take the parameters of the method'
  : TemplateProblem<TemplatesOf<K>, Parameters<M>, S>;

type TimeoutProblem<B extends MethodArguments, M extends AnyMethod> =
  Parameters<M> extends BeginsWith<B>
    ? never
    : 'nest-redis-lock: the onTimeout function does not take the parameters of the method';

type ResultProblem<M extends AnyMethod, Keeps extends boolean> = Keeps extends true
  ? KeptProblem<M>
  : [ReturnType<M>] extends [LockedResult]
    ? never
    : 'nest-redis-lock: a locked method must return a Promise or an Observable';

type KeptProblem<M extends AnyMethod> =
  ReturnType<M> extends Promise<infer T>
    ? [T] extends [JsonValue<T>]
      ? never
      : 'nest-redis-lock: a method with @Once must return a Promise of plain JSON data, of which callers receive copies'
    : 'nest-redis-lock: a method with @Once must return a Promise';

/** A sentence if callers do not expect the result of `onTimeout`; unknown types pass. */
type SubstituteProblem<R, M extends AnyMethod> = unknown extends R
  ? never
  : [WithoutVoid<Awaited<R>>] extends [Expected<ReturnType<M>>]
    ? never
    : [WithoutVoid<Awaited<R>>] extends [Widened<Expected<ReturnType<M>>>]
      ? never
      : [R] extends [undefined]
        ? "nest-redis-lock: onTimeout: 'skip' gives undefined, which the result of the method does not include"
        : 'nest-redis-lock: onTimeout gives what the result of the method does not include';

/** A descriptor that accepts a method with the results of `onTimeout`. */
type Substitutes<R> = {
  set?: (
    method: (...args: unknown[]) => Promise<NoInfer<WithoutVoid<R>>> & Observable<NoInfer<WithoutVoid<R>>>,
  ) => void;
};

/** A method that returns void may return anything, as everywhere in TypeScript. */
type Expected<Result> =
  Result extends Promise<infer T>
    ? AnythingIfVoid<T>
    : Result extends Observable<infer T>
      ? AnythingIfVoid<T> | Observable<T>
      : unknown;

type AnythingIfVoid<T> = void extends T ? unknown : T;
type WithoutVoid<R> = R extends void ? undefined : R;

/** Widens literals: the compiler infers `{ state: 'busy' }` of a function as `{ state: string }`. */
type Widened<T> = T extends string
  ? string
  : T extends number
    ? number
    : T extends bigint
      ? bigint
      : T extends boolean
        ? boolean
        : T extends Date | Observable<unknown> | AnyMethod
          ? T
          : { [Key in keyof T]: Widened<T[Key]> };

/** `unknown` without a problem; otherwise the sentence, to which no descriptor is assignable. */
type Unless<Problem> = [Problem] extends [never] ? unknown : Problem;
