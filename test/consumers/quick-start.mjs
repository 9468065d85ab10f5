import { readFileSync } from 'node:fs';
import { lexer } from 'marked';

/** The source that the README marks as runnable. */
export function quickStart() {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  const block = lexer(readme).find((token) => token.type === 'code' && token.lang === 'ts runnable');
  if (block === undefined) throw new Error('The README has no block that begins with ```ts runnable');
  return block.text;
}
