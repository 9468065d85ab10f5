import { isPromise } from 'node:util/types';
import { LockConfigError, LockKeyError } from '../errors/lock.error.js';
import { describeValue } from './key-part.js';
import { parseKeyTemplate } from './key-template.js';
import { lockNameProblem, sortedNames } from './lock-name.js';

/**
 * A function from the arguments of a call to its lock names; `this` is the instance. Unlike the parts of a template,
 * its result is not encoded.
 */
export type KeyFunction = (...args: never[]) => string | readonly string[];

/** The key of `@Locked`: a template, several templates, or a function. */
export type KeySource = string | readonly string[] | KeyFunction;

/** A parsed {@link KeySource}. */
export interface CompiledKeySource {
  /** The template as written, several templates separated by commas; undefined for a function. */
  readonly template: string | undefined;
  /**
   * The lock names for the arguments of one call, sorted and without repeats.
   *
   * @param method Class and method, for messages.
   * @throws LockKeyError if the arguments give no valid name; errors of a key function pass unchanged.
   */
  resolve(args: readonly unknown[], method: string, instance?: unknown): string[];
}

/**
 * Parses a key once, for many calls.
 *
 * @throws LockConfigError for an invalid template, an empty array, and any other value that is not a key.
 * @example
 * ```ts
 * const source = compileKeySource(['order:<0>', 'customer:<1>']);
 * source.resolve([42, 'ann'], 'OrdersService.place'); // ['customer:ann', 'order:42']
 * ```
 */
export function compileKeySource(source: KeySource): CompiledKeySource {
  if (typeof source === 'string') return parseKeyTemplate(source);
  if (typeof source === 'function')
    return {
      template: undefined,
      resolve: (args, method, instance) => namesFrom(source, args, method, instance),
    };
  if (!isTemplates(source)) {
    throw new LockConfigError(
      'The key of a lock is a template such as "order:<0>", a non-empty array of templates, or a function of the arguments.',
    );
  }
  const templates = source.map(parseKeyTemplate);
  return {
    template: source.join(', '),
    resolve: (args, method, instance) =>
      sortedNames(templates.flatMap((template) => template.resolve(args, method, instance))),
  };
}

/** Callers without TypeScript can pass anything. */
function isTemplates(source: unknown): source is readonly string[] {
  return (
    Array.isArray(source) && source.length > 0 && source.every((template) => typeof template === 'string')
  );
}

function namesFrom(
  source: KeyFunction,
  args: readonly unknown[],
  method: string,
  instance: unknown,
): string[] {
  const result: unknown = Reflect.apply(source, instance, args);
  if (typeof result === 'string') return [checkedName(result, method)];
  if (!Array.isArray(result) || result.length === 0)
    throw new LockKeyError(`${method}: ${wrongResult(result)}.`);
  return sortedNames(Array.from(result, (name: unknown) => checkedName(name, method)));
}

function wrongResult(result: unknown): string {
  const found = isPromise(result) ? 'a Promise' : describeValue(result);
  return `the key function returned ${found}; return a lock name or a non-empty array of them, synchronously`;
}

function checkedName(name: unknown, method: string): string {
  const problem = lockNameProblem(name);
  if (problem !== undefined)
    throw new LockKeyError(`${method}: the lock name from the key function ${problem}.`);
  return String(name);
}
