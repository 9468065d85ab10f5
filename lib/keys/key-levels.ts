import { EACH, type KeyPath } from './key-path.js';
import { keyTemplateError, type KeyPlaceholder } from './key-template.parser.js';

/** An array on the path to a part of a key. */
export interface KeyLevel {
  /** The placeholder that iterates over it, for messages. */
  readonly placeholder: string;
  /** The path from the arguments to the array. */
  readonly path: KeyPath;
  /** The path from the element of the enclosing array, or from the arguments, to the array. */
  readonly steps: KeyPath;
}

/**
 * The arrays that the placeholders of a template iterate over, outermost first.
 *
 * They are nested: in `<0.lines[].warehouse>/<0.lines[].sku>`, both parts come from the same line. Two parallel arrays
 * are rejected, because a template cannot say which elements belong together.
 *
 * @throws LockConfigError for parallel arrays.
 */
export function levelsOf(source: string, placeholders: readonly KeyPlaceholder[]): readonly KeyLevel[] {
  const walks = placeholders.map((placeholder) => ({ placeholder, levels: levelsOfPath(placeholder) }));
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

function levelsOfPath({ text, path }: KeyPlaceholder): readonly KeyLevel[] {
  const levels: KeyLevel[] = [];
  let begin = 0;
  for (const [index, step] of path.entries()) {
    if (step !== EACH) continue;
    levels.push({ placeholder: text, path: path.slice(0, index), steps: path.slice(begin, index) });
    begin = index + 1;
  }
  return levels;
}
