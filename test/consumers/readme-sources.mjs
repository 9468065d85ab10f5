import { readFileSync } from 'node:fs';
import { lexer } from 'marked';

/** The application of the README. */
export function quickStart() {
  return blockMarked('runnable');
}

/** The test of the README, which is written for Jest. */
export function jestTest() {
  return blockMarked('spec');
}

/** The same for Vitest, by the changes that the README names. */
export function vitestTest() {
  return jestTest()
    .replace("from '@jest/globals'", "from 'vitest'")
    .replaceAll(/\bjest\b/g, 'vi');
}

/** @param {string} mark */
function blockMarked(mark) {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  const block = lexer(readme).find((token) => token.type === 'code' && token.lang === `ts ${mark}`);
  if (block === undefined) throw new Error(`The README has no block that begins with \`\`\`ts ${mark}`);
  return block.text;
}
