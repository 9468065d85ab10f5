import { LockConfigError } from '../../errors/lock.error.js';
import { tryTo } from '../../primitives/try-to.js';

/** Values of which JSON keeps no copy. */
type NoJson = bigint | symbol | Date | RegExp | Error | Promise<unknown> | ((...args: never[]) => unknown);
type NoJsonObject = ReadonlyMap<unknown, unknown> | ReadonlySet<unknown> | WeakKey[] | ArrayBufferView;

/** `T` if JSON can keep a copy of it, as far as types say; otherwise a type to which `T` is not assignable. */
export type JsonValue<T> = T extends string | number | boolean | null | undefined | void
  ? T
  : T extends NoJson
    ? never
    : T extends readonly unknown[]
      ? { readonly [I in keyof T]: JsonValue<T[I]> }
      : T extends NoJsonObject
        ? never
        : T extends object
          ? { [K in keyof T]: JsonValue<T[K]> }
          : unknown;

/** A type to which work is assignable only if JSON can keep its result. */
export type JsonWork<T> = [T] extends [JsonValue<T>]
  ? unknown
  : { readonly problem: 'The result of once() must be plain JSON data, of which callers receive copies.' };

/**
 * Formats a result as JSON, empty for undefined.
 *
 * @throws LockConfigError for a result that JSON cannot keep, or that is longer than `most` bytes. It does not contain
 * the result.
 */
export function formatResult(result: unknown, name: string, most: number): string {
  // A proxy or an accessor may throw, and a value may be nested too deeply.
  const { json, problem } = tryTo(() => format(result)) ?? { json: '', problem: 'cannot be read' };
  if (problem !== undefined)
    throw new LockConfigError(
      `The result of once() for "${name}" ${problem}, which JSON cannot keep. The work has run, but its result is not ` +
        'kept, so the next call runs it again. Return plain data.',
      { keys: [name] },
    );
  const bytes = Buffer.byteLength(json);
  if (bytes <= most) return json;
  throw new LockConfigError(
    `The result of once() for "${name}" has ${bytes} bytes, and advanced.maxResult is ${most}. The work has run, but its ` +
      'result is not kept, so the next call runs it again. Return less, such as a key under which the result is stored.',
    { keys: [name] },
  );
}

function format(result: unknown): { readonly json: string; readonly problem?: string | undefined } {
  const problem = problemOf(result, new Set());
  return { json: problem === undefined && result !== undefined ? JSON.stringify(result) : '', problem };
}

/** Parses a kept result; each caller receives its own copy. */
export function parseResult(json: string): unknown {
  return json === '' ? undefined : (JSON.parse(json) as unknown);
}

/** What a value is or contains that JSON would drop or change; undefined if JSON keeps it. */
function problemOf(value: unknown, parents: Set<unknown>): string | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'undefined':
      return undefined;
    case 'number':
      return Number.isFinite(value) ? undefined : `contains ${value}`;
    case 'object':
      return value === null ? undefined : objectProblem(value, parents);
    default:
      return `contains a ${typeof value}`;
  }
}

function objectProblem(value: object, parents: Set<unknown>): string | undefined {
  const kind = Object.prototype.toString.call(value).slice(8, -1);
  if (kind !== 'Object' && kind !== 'Array') return `contains a ${kind}`;
  if (typeof Reflect.get(value, 'toJSON') === 'function') return 'contains an object with toJSON()';
  if (parents.has(value)) return 'contains itself';
  parents.add(value);
  for (const each of Array.isArray(value) ? (value as unknown[]) : Object.values(value)) {
    const problem =
      each === undefined && Array.isArray(value)
        ? 'contains an array with undefined'
        : problemOf(each, parents);
    if (problem !== undefined) return problem;
  }
  parents.delete(value);
  return undefined;
}
