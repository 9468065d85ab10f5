import { CONTROL_CHARACTER } from '../primitives/characters.js';

/** The step of a path that iterates over an array; no property in a template has this name. */
export const EACH = '[]';

/** The first step of a path from the instance. */
export const INSTANCE = 'this';

/** The path of a placeholder: the number of an argument or {@link INSTANCE}, then property names and {@link EACH}. */
export type KeyPath = readonly string[];

const PIECE = /^([^[\]]*)((?:\[\])*)$/;
const ARGUMENT = /^(?:0|[1-9]\d*)$/;

/**
 * Parses the text between the angle brackets of a placeholder: `0`, `0.sku`, `0.items[].sku`, `1[]`, `this.tenant`.
 * Returns the path, or a sentence about what is expected instead.
 */
export function parseKeyPath(text: string): KeyPath | string {
  if (text === INSTANCE || text.startsWith(INSTANCE + EACH))
    return 'a property of the instance is expected, as in <this.tenant>';
  const path: string[] = [];
  for (const [index, piece] of text.split('.').entries()) {
    const [, name, brackets = ''] = PIECE.exec(piece) ?? [];
    if (name === undefined)
      return 'square brackets are only written as "[]" after an array, as in <0.items[].sku>';
    const problem = index === 0 ? argumentProblem(name) : propertyProblem(name);
    if (problem !== undefined) return problem;
    path.push(name, ...Array<string>(brackets.length / EACH.length).fill(EACH));
  }
  return path;
}

/** Formats a path as a placeholder. */
export function placeholderText(path: KeyPath): string {
  return `<${path.join('.').replaceAll(`.${EACH}`, EACH)}>`;
}

function argumentProblem(name: string): string | undefined {
  if (ARGUMENT.test(name) || name === INSTANCE) return undefined;
  return 'a placeholder begins with the number of an argument, counted from 0, as in <0> or <0.sku>, or with "this"';
}

function propertyProblem(name: string): string | undefined {
  if (name === '') return 'a property name is expected after "."';
  if (/[\s<]/.test(name) || CONTROL_CHARACTER.test(name))
    return 'a property name has no spaces, control characters or "<" (is a ">" missing?)';
  // Every object has these properties, so they cannot distinguish the objects of two callers.
  if (name in Object.prototype) return `"${name}" belongs to every object and cannot be part of a key`;
  return undefined;
}
