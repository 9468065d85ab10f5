import type { Placeholders, Steps } from './key-path.types.js';
import type { KeyScalar, MethodArguments } from './key-template.types.js';

/**
 * What a template demands of the arguments, as a type for them to be assignable to.
 *
 * It explains nothing, but it also holds for the type parameters of a class, where TemplateProblem stays undecided: assignability
 * looks at the constraint of a type parameter, a conditional type does not.
 */
export type TemplateDemand<T extends string> = string extends T
  ? MethodArguments
  : Every<Demand<Placeholders<T>> | ((args: MethodArguments) => void)>;

/** The intersection of what a union of functions takes. */
type Every<F> = [F] extends [(args: infer Args extends MethodArguments) => void] ? Args : never;

type Demand<Path extends string> = Path extends string
  ? Steps<Path> extends [infer Index extends string, ...infer Rest extends string[]]
    ? (args: ArgumentAt<Index, Shape<Rest>>) => void
    : never
  : never;

/** A tuple with `T` at `Index`. */
type ArgumentAt<Index extends string, T, Before extends unknown[] = []> = Index extends `${Before['length']}`
  ? readonly [...Before, T, ...unknown[]]
  : Before['length'] extends 16
    ? NoArguments
    : ArgumentAt<Index, T, [...Before, unknown]>;

/**
 * What no arguments are assignable to: for a mistake in the template, and for indices beyond what methods have.
 * Not `never`, which is a list of arguments that every function takes.
 */
type NoArguments = MethodArguments & { readonly unfit: true };

type Shape<Path extends string[]> = Path extends [infer Step extends string, ...infer Rest extends string[]]
  ? Step extends '[]'
    ? readonly Shape<Rest>[]
    : object & { readonly [Name in Step]: Shape<Rest> }
  : KeyScalar;
