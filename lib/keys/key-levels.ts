import { EACH, type KeyPath } from './key-path.js';
import { keyTemplateError, type KeyPlaceholder } from './key-template.parser.js';

/** An array on the way to a part. */
export interface KeyLevel {
  /** The placeholder that walks it, for messages. */
  readonly placeholder: string;
  /** The way from the arguments to the array. */
  readonly path: KeyPath;
  /** The way from the element of the array around it, or from the arguments, to the array. */
  readonly steps: KeyPath;
}

/**
 * The arrays that the placeholders of a template walk, outermost first.
 *
 * They lie inside each other: with `<0.lines[].warehouse>/<0.lines[].sku>` both parts come from one line.
 * Two arrays side by side are refused, for a template cannot say which elements belong together.
 *
 * @throws LockConfigError for arrays side by side.
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
