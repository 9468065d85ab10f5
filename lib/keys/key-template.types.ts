/** The types of a part of a key. */
type KeyScalar = string | number | bigint | boolean | Date;

/** The arguments of a method, from `Parameters<M>`. */
export type MethodArguments = readonly unknown[];

/**
 * A sentence for each placeholder of the template `T` that a method cannot fill; `never` if it can fill all. `A` are
 * the arguments of the method, and `S` is the instance type of its class.
 *
 * A part that may be null or undefined is rejected, as in strict TypeScript, and so is one of type `unknown`. `any`
 * passes. An element of an array or an index signature counts as present, as in TypeScript by default. A placeholder at
 * a rest parameter is rejected, because the lock would cover one of its elements. A template that is only known as
 * `string` is not checked. Decoration or the call finds what no type shows: an empty string, NaN, an invalid template.
 */
export type TemplateProblem<T extends string, A extends MethodArguments, S> = string extends T
  ? never
  : PlaceholderProblem<Placeholders<T>, A, S> | ForeignPlaceholder<T>;

/** A sentence about placeholders of other packages in a template without its own, with the rules of the parser. */
type ForeignPlaceholder<T extends string> = T extends `${string}<${string}`
  ? never
  : T extends `${string}{${infer Name}}${string}`
    ? `nest-redis-lock: {${Name}} is not a placeholder, write ${Spelling<Name>}`
    : T extends `:${infer Name}` | `${string}/:${infer Name}` | `${string}::${infer Name}`
      ? `nest-redis-lock: :${Name} is not a placeholder, write ${Spelling<Name>}`
      : never;

type Spelling<Name extends string> = Name extends `${number}`
  ? `<${Name}>`
  : `<0> for the first argument or <0.${Name}> for a property of it`;

type PlaceholderProblem<Path extends string, A extends MethodArguments, S> = Path extends `<${string}`
  ? `nest-redis-lock: ${Path} is not closed by >`
  : Path extends `this.${infer Rest}`
    ? Sentence<Path, Lacks<S, Steps<Rest>>>
    : Path extends string
      ? Sentence<Path, FlawOfArgument<A, Steps<Path>>>
      : never;

/** Why a path cannot be a part of a key. */
type Flaw = 'path' | 'rest' | 'unknown' | 'nullish' | 'scalar';

/** One sentence about the worst flaw among the members of a union. */
type Sentence<Path extends string, Found extends Flaw> = [Found] extends [never]
  ? never
  : 'path' extends Found
    ? Path extends `this.${string}`
      ? `nest-redis-lock: <${Path}> is not a path of the class's public properties`
      : `nest-redis-lock: <${Path}> is not a path of the method's parameters`
    : 'rest' extends Found
      ? `nest-redis-lock: <${Path}> is only one element of a rest parameter, use a function as the key: (...all) => all.map((each) => \`name:\${each}\`)`
      : 'unknown' extends Found
        ? `nest-redis-lock: <${Path}> is of type unknown, declare what it is, or constrain its type parameter`
        : 'nullish' extends Found
          ? `nest-redis-lock: <${Path}> may be null or undefined, make it required without a default or use a function as the key`
          : `nest-redis-lock: <${Path}> is not a string, number, bigint, boolean or Date, use a function as the key and String() in it where it has a text of its own`;

type IsAny<T> = 0 extends 1 & T ? true : false;
type Nullish = null | undefined | void;

/** The flaws of `Path` in the arguments of a method, whose length is unknown with a rest parameter. */
type FlawOfArgument<A extends MethodArguments, Path extends string[]> = Path extends [
  infer Index extends string,
  ...infer Rest extends string[],
]
  ? Index extends keyof A
    ? Lacks<A[Index], Rest>
    : number extends A['length']
      ? 'rest'
      : 'path'
  : 'path';

/**
 * The flaws of `Path` in any member of the union `T`; `never` if it ends at a scalar in all members. Undecided for a
 * type parameter of the class: the compiler's message then shows the name of this type.
 */
type Lacks<T, Path extends string[]> =
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
        ? Lacks<T[number], Rest>
        : FlawOfElement<T, Step, Rest>
      : Step extends keyof T
        ? Lacks<T[Step], Rest>
        : 'path';

/** In an array of unknown length, every number is an element; in a tuple, only its own. */
type FlawOfElement<
  T extends MethodArguments,
  Step extends string,
  Rest extends string[],
> = Step extends keyof T
  ? Lacks<T[Step], Rest>
  : number extends T['length']
    ? Step extends `${infer Index extends number}`
      ? Lacks<T[Index], Rest>
      : 'path'
    : 'path';

/**
 * The type to which the arguments of a template must be assignable.
 *
 * Its error explains nothing, but it also works for type parameters of a class, for which TemplateProblem stays
 * undecided. The reason: assignability uses the constraint of a type parameter, a conditional type does not.
 */
export type TemplateDemand<T extends string> = string extends T
  ? MethodArguments
  : [ForeignPlaceholder<T>] extends [never]
    ? Every<Demand<Placeholders<T>> | ((args: MethodArguments) => void)>
    : NoArguments;

/** The type to which the instance of a template must be assignable. */
export type InstanceDemand<T extends string> = string extends T
  ? object
  : [Placeholders<T> & `this.${string}`] extends [never]
    ? object
    : InstanceShape<Placeholders<T>> extends (instance: infer Instance extends object) => void
      ? Instance
      : never;

type InstanceShape<Path extends string> = Path extends `this.${infer Rest}`
  ? (instance: Shape<Steps<Rest>>) => void
  : never;

/** The intersection of the arguments of a union of functions. */
type Every<F> = [F] extends [(args: infer Args extends MethodArguments) => void] ? Args : never;

type Demand<Path extends string> = Path extends `this.${string}`
  ? never
  : Path extends string
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
 * A type to which no arguments are assignable, for an invalid template and for indices beyond the parameters of
 * methods. Not `never`, which every function accepts.
 */
type NoArguments = MethodArguments & { readonly unfit: true };

type Shape<Path extends string[]> = Path extends [infer Step extends string, ...infer Rest extends string[]]
  ? Step extends '[]'
    ? readonly Shape<Rest>[]
    : object & { readonly [Name in Step]: Shape<Rest> }
  : KeyScalar;

/**
 * The placeholders of a template, without their angle brackets: `'0.sku' | '1'` of `'a:<0.sku>/<1>'`.
 * As in the parser, `<<` is a literal `<`. A `<` that is never closed stays in front of what follows it.
 */
type Placeholders<T extends string, Found extends string = never> = T extends `${string}<${infer Rest}`
  ? Rest extends `<${infer Tail}`
    ? Placeholders<Tail, Found>
    : Rest extends `${infer Path}>${infer Tail}`
      ? Placeholders<Tail, Found | Path>
      : Found | `<${Rest}`
  : Found;

/** The steps of a placeholder, `[]` being one of its own: `['0', 'items', '[]', 'sku']` of `'0.items[].sku'`. */
type Steps<Path extends string> = Path extends `${infer Piece}.${infer Rest}`
  ? [...PieceSteps<Piece>, ...Steps<Rest>]
  : PieceSteps<Path>;

type PieceSteps<Piece extends string> = Piece extends `${infer Name}[]`
  ? [...PieceSteps<Name>, '[]']
  : [Piece];
