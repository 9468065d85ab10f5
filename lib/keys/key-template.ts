import { LockKeyError } from '../errors/lock.error.js';
import { allowedInsteadOf, describeValue, keyPartText, readForKey } from './key-part.js';
import { EACH, INSTANCE, placeholderText, type KeyPath } from './key-path.js';
import { keyTemplateError, parseTemplatePieces, type KeyPlaceholder } from './key-template.parser.js';
import { lockNameProblem, sortedNames } from './lock-name.js';

/** The way to a value: to a part of the name, or to an array that a placeholder iterates over. */
interface KeyWay {
  /** The placeholder, for messages. */
  readonly placeholder: string;
  /** The path from the arguments to the value. */
  readonly path: KeyPath;
  /** The path from the element of the innermost array around the value, or from the arguments, to the value. */
  readonly steps: KeyPath;
}

/** A part of the name: the way to its value, and its encoding. */
interface KeyPart extends KeyWay {
  /** Number of arrays before {@link steps}. */
  readonly depth: number;
  /** A character to escape in the part in addition to those of encodeURIComponent. */
  readonly guard: string | undefined;
  /** The literal text after the part. */
  readonly literal: string;
}

/**
 * A template for lock names, parsed once and filled from the arguments of each call.
 *
 * `<0>` is the first argument, and `<0.sku>` its property (its own, or a getter of its class). `<0.items[].sku>` gives
 * one name for each element; placeholders with the same array take their parts from the same element. `<this.tenant>`
 * is a property of the instance. `<<` is a literal `<`.
 *
 * Every part goes through encodeURIComponent. If the separator after a part consists only of characters that
 * encodeURIComponent does not encode, one of them is escaped in the part as well; see {@link guardOf}. The parts
 * can therefore be recovered from the name: two calls have the same name only if all parts are equal as text.
 */
export class KeyTemplate {
  private readonly readsInstance: boolean;
  /** The template in messages. */
  private readonly quoted: string;

  constructor(
    /** The template as written. */
    readonly template: string,
    private readonly prefix: string,
    /** The arrays that the placeholders iterate over, outermost first. */
    private readonly levels: readonly KeyWay[],
    private readonly parts: readonly KeyPart[],
  ) {
    this.quoted = JSON.stringify(template);
    this.readsInstance = parts.some(({ path }) => path[0] === INSTANCE);
  }

  /**
   * The lock names for the arguments of one call, sorted and without repeats.
   *
   * @param method Class and method, for messages.
   * @throws LockKeyError if a part is missing, empty or not a scalar, an array is empty, a name is too long, or a value
   * cannot be read.
   */
  resolve(args: readonly unknown[], method: string, instance?: unknown): string[] {
    const root = this.readsInstance ? Object.assign([...args], { [INSTANCE]: instance }) : args;
    return readForKey(`${method}: a value for key template ${this.quoted}`, () =>
      this.namesFrom(root, method),
    );
  }

  private namesFrom(root: readonly unknown[], method: string): string[] {
    let rows: (readonly unknown[])[] = [[root]];
    for (const level of this.levels) {
      rows = rows.flatMap((row) => this.elements(level, row, method).map((element) => [...row, element]));
    }
    return sortedNames(rows.map((row) => this.nameOf(row, method)));
  }

  private nameOf(row: readonly unknown[], method: string): string {
    let name = this.prefix;
    for (const part of this.parts) name += this.partOf(part, row, method) + part.literal;
    const problem = lockNameProblem(name);
    if (problem === undefined) return name;
    throw new LockKeyError(
      `${method}: the lock name from key template ${this.quoted} ${problem}. ` +
        'Parts count as encoded by encodeURIComponent, for which "é" is 6 bytes long.',
    );
  }

  private partOf(part: KeyPart, row: readonly unknown[], method: string): string {
    const value = this.walk(part, row[part.depth], method);
    const text = keyPartText(value);
    if (text === undefined)
      throw this.unusable(part, part.path, value, expectedInsteadOf(part, value), method);
    const encoded = encodeURIComponent(text);
    return part.guard === undefined ? encoded : encoded.replaceAll(part.guard, percentEncoded(part.guard));
  }

  private elements(level: KeyWay, row: readonly unknown[], method: string): unknown[] {
    const value = this.walk(level, row.at(-1), method);
    // Array.from, because holes of a sparse array are missing parts and must not be skipped.
    if (Array.isArray(value) && value.length > 0) return Array.from<unknown>(value);
    throw this.unusable(level, level.path, value, '"[]" needs an array with at least one element', method);
  }

  private walk(way: KeyWay, from: unknown, method: string): unknown {
    let value = from;
    for (const [index, step] of way.steps.entries()) {
      if (typeof value !== 'object' || value === null) {
        const reached = way.path.slice(0, way.path.length - way.steps.length + index);
        throw this.unusable(way, reached, value, `an object with the property "${step}" is needed`, method);
      }
      value = Reflect.get(value, step);
    }
    return value;
  }

  private unusable(
    { placeholder }: KeyWay,
    reached: KeyPath,
    value: unknown,
    expected: string,
    method: string,
  ): LockKeyError {
    const where = placeholderText(reached);
    const what = where === placeholder ? 'is' : `cannot be filled in, for ${where} is`;
    return new LockKeyError(
      `${method}: ${placeholder} of key template ${this.quoted} ${what} ${describeValue(value)}; ${expected}.`,
    );
  }
}

/**
 * Parses a key template, once, for many calls.
 *
 * @throws LockConfigError with the template, the position and what is expected there.
 * @example
 * ```ts
 * const template = parseKeyTemplate('stock:<0.warehouse>/<0.sku>');
 * template.resolve([{ warehouse: 'north', sku: 'a/7' }], 'StockService.reserve'); // ['stock:north/a%2F7']
 * ```
 */
export function parseKeyTemplate(source: string): KeyTemplate {
  const { prefix, placeholders } = parseTemplatePieces(source);
  const parts = placeholders.map((placeholder, index) => ({
    ...wayTo(placeholder, placeholder.path),
    depth: placeholder.path.filter((step) => step === EACH).length,
    guard: index === placeholders.length - 1 ? undefined : guardOf(source, placeholder),
    literal: placeholder.literal,
  }));
  return new KeyTemplate(source, prefix, levelsOf(source, placeholders), parts);
}

function wayTo({ text }: KeyPlaceholder, path: KeyPath): KeyWay {
  return { placeholder: text, path, steps: path.slice(path.lastIndexOf(EACH) + 1) };
}

/**
 * The arrays that the placeholders of a template iterate over, outermost first.
 *
 * They are nested: in `<0.lines[].warehouse>/<0.lines[].sku>`, both parts come from the same line. Two parallel arrays
 * are rejected, because a template cannot say which elements belong together.
 *
 * @throws LockConfigError for parallel arrays.
 */
function levelsOf(source: string, placeholders: readonly KeyPlaceholder[]): readonly KeyWay[] {
  const walks = placeholders.map((placeholder) => ({
    placeholder,
    levels: placeholder.path.flatMap((step, index) =>
      step === EACH ? [wayTo(placeholder, placeholder.path.slice(0, index))] : [],
    ),
  }));
  const deepest = walks.map(({ levels }) => levels).reduce((a, b) => (b.length > a.length ? b : a), []);
  for (const { placeholder, levels } of walks) {
    if (levels.every(({ path }, index) => path.join('.') === deepest[index]?.path.join('.'))) continue;
    const problem = `${placeholder.text} walks another array than ${deepest[0]?.placeholder}`;
    throw keyTemplateError(
      source,
      placeholder.position,
      `${problem}; use a function as the key to say which elements belong together`,
    );
  }
  return deepest;
}

function expectedInsteadOf({ path }: KeyPart, value: unknown): string {
  const allowed = allowedInsteadOf(value);
  if (value !== undefined || path.length > 1) return allowed;
  return `${allowed}; a default value of the parameter is set after the lock is acquired, so set it in a function as the key`;
}

function percentEncoded(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

/** Matches text of the characters that can appear in a part after encodeURIComponent. */
const ONLY_PART_CHARACTERS = /^[\w.!~*'()%-]*$/;
const MARK = /[-_.!~*'()]/;
/** A letter that `%XX` escapes do not contain, so that it can be escaped itself. */
const LETTER = /[G-Zg-za-f]/;

/**
 * The character that must be escaped in the part before a separator, so that the end of the part is recognisable.
 *
 * Parts consist of letters, digits, `-_.!~*'()` and `%`. A separator with any other character (`:`, `/`, `#`, a space,
 * ...) is recognisable by it: undefined. Otherwise one character of the separator is chosen and also escaped in the
 * part: `<0>-<1>` gives `a%2Db-c` for `'a-b'` and `'c'`.
 *
 * @throws LockConfigError for a separator without such a character: an empty one, or one of digits, `A` to `F` and `%`
 * alone.
 */
function guardOf(source: string, { text, position, literal }: KeyPlaceholder): string | undefined {
  if (!ONLY_PART_CHARACTERS.test(literal)) return undefined;
  const [guard] = MARK.exec(literal) ?? LETTER.exec(literal) ?? [];
  if (guard !== undefined) return guard;
  const found = literal === '' ? 'another placeholder follows at once' : `only "${literal}" follows`;
  const problem = `after ${text} ${found}, so that different arguments could give one key`;
  throw keyTemplateError(source, position + text.length, `${problem}; put a separator such as ":" there`);
}
