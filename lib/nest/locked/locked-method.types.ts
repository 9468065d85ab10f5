import type { Observable } from 'rxjs';
import type { KeyFunction, KeySource } from '../../keys/key-source.js';
import type {
  InstanceDemand,
  MethodArguments,
  TemplateDemand,
  TemplateProblem,
} from '../../keys/key-template.types.js';
import type { LockedOptions } from './locked-options.interface.js';

/** What a locked method returns: something that ends later, for the lock is held until then. */
export type LockedResult = Promise<unknown> | Observable<unknown>;

/**
 * The type of `Locked`: takes the key, keeps its literal type, and gives a decorator for the methods that it fits.
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
  options?: LockedOptions<B, R, W>,
) => LockedDecorator<K, B, R | SkippedBy<W>>;

/** A word that is not known at compile time is not checked. */
type SkippedBy<Word> = [Word] extends ['skip'] ? undefined : never;

/**
 * A method decorator for the methods from whose arguments the key `K` can be made, whose arguments
 * `onTimeout` takes (`B`) and among whose results are those that it gives (`R`), and which return a {@link LockedResult}.
 *
 * The first signature decides by assignability, so that it also holds for the type parameters of a generic class; so does the
 * second about the result, for methods without parameters. The last one
 * has the last word, and its sentence about what is wrong is the one that the compiler reports last.
 */
export interface LockedDecorator<K extends KeySource, B extends MethodArguments = [], R = never> {
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- without A there is no constraint to check
  <A extends KeyDemand<K> & BeginsWith<B>, M extends AnyMethod>(
    target: TargetDemand<K>,
    propertyKey: string | symbol,
    descriptor: { value?: (...args: A) => LockedResult } & { value?: M } & WithParameters<M> & Substitutes<R>,
  ): void;
  <M extends AnyMethod, S extends object>(
    target: S,
    propertyKey: string | symbol,
    descriptor: { value?: M } & Substitutes<R> &
      Unless<KeyProblem<K, M, S> | TimeoutProblem<B, M> | ResultProblem<M>>,
  ): void;
  <M extends AnyMethod, S extends object>(
    target: S,
    propertyKey: string | symbol,
    descriptor: { value?: M } & Unless<
      KeyProblem<K, M, S> | TimeoutProblem<B, M> | ResultProblem<M> | SubstituteProblem<R, M>
    >,
  ): void;
}

type AnyMethod = (...args: never[]) => unknown;

/** Arguments that begin as those of a function do; what follows is free. */
type BeginsWith<Args extends MethodArguments> = number extends Args['length']
  ? Args
  : readonly [...Args, ...unknown[]];

/**
 * What the arguments must be assignable to for the key to be made from them.
 *
 * For arguments that are not, the compiler goes on with the demand in their place. Being an intersection of readonly
 * arrays, it fits no list of parameters, so that the signature is refused; a tuple alone could fit one.
 */
type KeyDemand<K extends KeySource> = MethodArguments &
  (K extends KeyFunction
    ? BeginsWith<Parameters<K>>
    : K extends readonly string[]
      ? TemplateDemand<K[number]>
      : K extends string
        ? TemplateDemand<K>
        : never);

/** A method without parameters would take any demand, so the second signature has to judge it. */
type WithParameters<M extends AnyMethod> = Parameters<M> extends readonly [] ? never : unknown;

/** What the instance must be assignable to for the key to be made from it. */
type TargetDemand<K extends KeySource> = K extends KeyFunction
  ? object & ThisParameterType<K>
  : K extends readonly string[]
    ? InstanceDemand<K[number]>
    : K extends string
      ? InstanceDemand<K>
      : never;

type KeyProblem<K extends KeySource, M extends AnyMethod, S> = K extends KeyFunction
  ? Parameters<M> extends BeginsWith<Parameters<K>>
    ? [S] extends [ThisParameterType<K>]
      ? never
      : 'nest-redis-lock: the key function is for instances of another class'
    : 'nest-redis-lock: the key function does not take the parameters of the method'
  : K extends readonly string[]
    ? TemplateProblem<K[number], Parameters<M>, S>
    : K extends string
      ? TemplateProblem<K, Parameters<M>, S>
      : never;

type TimeoutProblem<B extends MethodArguments, M extends AnyMethod> =
  Parameters<M> extends BeginsWith<B>
    ? never
    : 'nest-redis-lock: the onTimeout function does not take the parameters of the method';

type ResultProblem<M extends AnyMethod> = [ReturnType<M>] extends [LockedResult]
  ? never
  : 'nest-redis-lock: a locked method must return a Promise or an Observable';

/** What `onTimeout` gives instead of a result has to be one that callers expect; what is not known of it passes. */
type SubstituteProblem<R, M extends AnyMethod> = unknown extends R
  ? never
  : [WithoutVoid<Awaited<R>>] extends [Expected<ReturnType<M>>]
    ? never
    : [WithoutVoid<Awaited<R>>] extends [Widened<Expected<ReturnType<M>>>]
      ? never
      : [R] extends [undefined]
        ? "nest-redis-lock: onTimeout: 'skip' gives undefined, which the result of the method does not include"
        : 'nest-redis-lock: onTimeout gives what the result of the method does not include';

/** A descriptor into which a method could be put that returns what `onTimeout` gives. */
type Substitutes<R> = {
  set?: (
    method: (...args: unknown[]) => Promise<NoInfer<WithoutVoid<R>>> & Observable<NoInfer<WithoutVoid<R>>>,
  ) => void;
};

/** A method that returns nothing may give anything, as everywhere in TypeScript. */
type Expected<Result> =
  Result extends Promise<infer T>
    ? AnythingIfVoid<T>
    : Result extends Observable<infer T>
      ? AnythingIfVoid<T> | Observable<T>
      : unknown;

type AnythingIfVoid<T> = void extends T ? unknown : T;
type WithoutVoid<R> = R extends void ? undefined : R;

/** The compiler takes `{ state: 'busy' }` of a function for `{ state: string }`, and so has to be asked for that. */
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

/** Nothing to demand, unless there is a problem: no descriptor is a sentence. */
type Unless<Problem> = [Problem] extends [never] ? unknown : Problem;
