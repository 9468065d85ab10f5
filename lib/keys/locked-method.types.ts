import type { Observable } from 'rxjs';
import type { KeyFunction, KeySource } from './key-source.js';
import type { MethodArguments, TemplateProblem } from './key-template.types.js';
import type { LockedOptions } from './locked-options.interface.js';
import type { TemplateDemand } from './template-demand.types.js';

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
export type LockedDecoratorFactory = <const K extends KeySource, B extends MethodArguments = []>(
  key: K,
  options?: LockedOptions<B>,
) => LockedDecorator<K, B>;

/**
 * A method decorator for the methods from whose arguments the key `K` can be made, whose arguments
 * `onTimeout` takes (`B`), and which return a {@link LockedResult}.
 *
 * The first signature decides by assignability, so that it also holds for the type parameters of a generic class. The second
 * has the last word, and its sentence about what is wrong is the one that the compiler reports last.
 */
export interface LockedDecorator<K extends KeySource, B extends MethodArguments = []> {
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- without A there is no constraint to check
  <A extends KeyDemand<K> & BeginsWith<B>, M extends AnyMethod>(
    target: object,
    propertyKey: string | symbol,
    descriptor: { value?: (...args: A) => LockedResult } & { value?: M } & WithParameters<M>,
  ): void;
  <M extends AnyMethod>(
    target: object,
    propertyKey: string | symbol,
    descriptor: { value?: M } & Unless<KeyProblem<K, M> | TimeoutProblem<B, M> | ResultProblem<M>>,
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

type KeyProblem<K extends KeySource, M extends AnyMethod> = K extends KeyFunction
  ? Parameters<M> extends BeginsWith<Parameters<K>>
    ? never
    : 'nest-redis-lock: the key function does not take the parameters of the method'
  : K extends readonly string[]
    ? TemplateProblem<K[number], Parameters<M>>
    : K extends string
      ? TemplateProblem<K, Parameters<M>>
      : never;

type TimeoutProblem<B extends MethodArguments, M extends AnyMethod> =
  Parameters<M> extends BeginsWith<B>
    ? never
    : 'nest-redis-lock: the onTimeout function does not take the parameters of the method';

type ResultProblem<M extends AnyMethod> = [ReturnType<M>] extends [LockedResult]
  ? never
  : 'nest-redis-lock: a locked method must return a Promise or an Observable';

/** Nothing to demand, unless there is a problem: no descriptor is a sentence. */
type Unless<Problem> = [Problem] extends [never] ? unknown : Problem;
