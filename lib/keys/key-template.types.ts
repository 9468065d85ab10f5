import type { Placeholders, Steps } from './key-path.types.js';

/** What a part of a key may be. */
export type KeyScalar = string | number | bigint | boolean | Date;

/** The arguments of a method, as `Parameters<M>` gives them. */
export type MethodArguments = readonly unknown[];

/**
 * A sentence for each placeholder of the template `T` that a method with the arguments `A` cannot fill,
 * and `never` where it can fill all.
 *
 * A part that may be null or undefined is refused, as strict TypeScript would; so is one of type `unknown`. `any` passes, and
 * an element of an array, a rest parameter or an index signature counts as present, as TypeScript has it by default.
 * A template that is only known as `string` is not checked. What no type shows (an empty string, NaN, a mistake in
 * a template) is found at decoration or by the call.
 */
export type TemplateProblem<T extends string, A extends MethodArguments> = string extends T
  ? never
  : PlaceholderProblem<Placeholders<T>, A>;

type PlaceholderProblem<Path extends string, A extends MethodArguments> = Path extends `<${string}`
  ? `nest-redis-lock: ${Path} is not closed by >`
  : Path extends string
    ? Sentence<Path, FlawOf<A, Steps<Path>>>
    : never;

/** What keeps a path from being a part of a key. */
type Flaw = 'path' | 'unknown' | 'nullish' | 'scalar';

/** One sentence, about the worst of the flaws that the members of a union have. */
type Sentence<Path extends string, Found extends Flaw> = [Found] extends [never]
  ? never
  : 'path' extends Found
    ? `nest-redis-lock: <${Path}> is not a path of the method's parameters`
    : 'unknown' extends Found
      ? `nest-redis-lock: <${Path}> is of type unknown, declare what it is`
      : 'nullish' extends Found
        ? `nest-redis-lock: <${Path}> may be null or undefined, make it required or use a function as the key`
        : `nest-redis-lock: <${Path}> is not a string, number, bigint, boolean or Date`;

type IsAny<T> = 0 extends 1 & T ? true : false;
type Nullish = null | undefined | void;

/** What a walk along `Path` runs into in any member of the union `T`; `never` where it ends at a scalar in all of them. */
type FlawOf<T, Path extends string[]> =
  IsAny<T> extends true
    ? never
    : unknown extends T
      ? 'unknown'
      : Path extends [infer Step extends string, ...infer Rest extends string[]]
        ? FlawOfStep<T, Step, Rest>
        : FlawOfPart<T>;

type FlawOfPart<T> = T extends Nullish ? 'nullish' : T extends KeyScalar ? never : 'scalar';

type FlawOfStep<T, Step extends string, Rest extends string[]> = T extends Nullish
  ? 'nullish'
  : T extends KeyScalar
    ? 'path'
    : T extends MethodArguments
      ? Step extends '[]'
        ? FlawOf<T[number], Rest>
        : FlawOfElement<T, Step, Rest>
      : Step extends keyof T
        ? FlawOf<T[Step], Rest>
        : 'path';

/** In an array of unknown length every number is an element; in a tuple, only those that it has. */
type FlawOfElement<
  T extends MethodArguments,
  Step extends string,
  Rest extends string[],
> = Step extends keyof T
  ? FlawOf<T[Step], Rest>
  : number extends T['length']
    ? Step extends `${infer Index extends number}`
      ? FlawOf<T[Index], Rest>
      : 'path'
    : 'path';
