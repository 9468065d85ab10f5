import { LockConfigError } from '../errors/lock.error.js';
import { parseKeyTemplate } from './key-template.js';
import { lockNamesOf, sortedNames } from './lock-name.js';

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
  resolve(args: readonly unknown[], method: string, instance?: unknown): readonly string[];
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
      resolve: (args, method, instance) =>
        lockNamesOf(Reflect.apply(source, instance, args), `${method}: the lock name from the key function`),
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
