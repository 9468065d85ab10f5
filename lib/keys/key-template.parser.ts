import { LockConfigError } from '../errors/lock.error.js';
import { parseKeyPath, type KeyPath } from './key-path.js';
import { lockNameProblem } from './lock-name.js';

/** A placeholder of a template, with its position. */
export interface KeyPlaceholder {
  /** As written, `<0.sku>`. */
  readonly text: string;
  readonly path: KeyPath;
  /** Position, counted from 1. */
  readonly position: number;
  /** The literal text up to the next placeholder or the end. */
  readonly literal: string;
}

/** A parsed template. */
export interface ParsedKeyTemplate {
  /** The literal text before the first placeholder. */
  readonly prefix: string;
  readonly placeholders: readonly KeyPlaceholder[];
}

/** Placeholders of other packages: `{0}`, `${id}` or `{id}`, and `:id` at the start or after `/` or `:`. */
const FOREIGN_PLACEHOLDER = /\$?\{([^{}]*)\}|(?<=^|[/:]):([^/:]*)/;

/** The error of an invalid template, at a position counted from 1. */
export function keyTemplateError(template: string, position: number, problem: string): LockConfigError {
  return new LockConfigError(`Key template ${JSON.stringify(template)} at position ${position}: ${problem}.`);
}

/**
 * Parses a key template into its pieces.
 *
 * @throws LockConfigError with the template, the position and what is expected there.
 */
export function parseTemplatePieces(template: string): ParsedKeyTemplate {
  const placeholders: KeyPlaceholder[] = [];
  const prefix = literalAt(template, 0);
  let next = prefix.end;
  while (next < template.length) {
    const placeholder = placeholderAt(template, next);
    const following = literalAt(template, next + placeholder.text.length);
    placeholders.push({ ...placeholder, literal: following.text });
    next = following.end;
  }
  if (placeholders.length === 0) refuseForeignPlaceholder(template);
  checkLiterals(template, [prefix.text, ...placeholders.map(({ literal }) => literal)]);
  return { prefix: prefix.text, placeholders };
}

/** The literal text from `begin` to the next placeholder or the end. */
function literalAt(template: string, begin: number): { text: string; end: number } {
  const written = /(?:[^<]|<<)*/y;
  written.lastIndex = begin;
  const [text = ''] = written.exec(template) ?? [];
  return { text: text.replaceAll('<<', '<'), end: begin + text.length };
}

function placeholderAt(template: string, open: number): Omit<KeyPlaceholder, 'literal'> {
  const close = template.indexOf('>', open);
  const position = open + 1;
  if (close === -1) {
    throw keyTemplateError(template, position, '"<" is not closed by ">"; write "<<" for a literal "<"');
  }
  const path = parseKeyPath(template.slice(open + 1, close));
  if (typeof path === 'string') throw keyTemplateError(template, position, path);
  return { text: template.slice(open, close + 1), path, position };
}

/** Rejects literals that no lock name may contain. */
function checkLiterals(template: string, literals: readonly string[]): void {
  const filledIn = literals.join('x');
  const problem = lockNameProblem(filledIn);
  if (problem !== undefined) throw keyTemplateError(template, 1, `the lock name ${problem}`);
}

/** Rejects a template whose only placeholders are those of other packages: it would be one name for all calls. */
function refuseForeignPlaceholder(template: string): void {
  const [found, inBraces, afterColon] = FOREIGN_PLACEHOLDER.exec(template) ?? [];
  if (found === undefined) return;
  const name = inBraces ?? afterColon ?? '';
  const instead = /^\d+$/.test(name)
    ? `<${name}>`
    : `<0> for the first argument, or <0.${name}> for a property of it`;
  throw keyTemplateError(
    template,
    template.indexOf(found) + 1,
    `"${found}" is not a placeholder; write ${instead}, or use a function as the key if this text is meant literally`,
  );
}
