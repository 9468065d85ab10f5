import { readFileSync } from 'node:fs';
import { lexer } from 'marked';

/** The application of the README. */
export function quickStart() {
  return blockMarked('runnable', 'README.md');
}

/** The test of the page on testing, which is written for Jest. */
export function jestTest() {
  return blockMarked('spec', 'docs/guide/testing.md');
}

/** The same for Vitest, by the changes that the page names. */
export function vitestTest() {
  return jestTest()
    .replace("from '@jest/globals'", "from 'vitest'")
    .replaceAll(/\bjest\b/g, 'vi');
}

/**
 * @param {string} mark
 * @param {string} file
 */
function blockMarked(mark, file) {
  const document = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
  const block = lexer(document).find((token) => token.type === 'code' && token.lang === `ts ${mark}`);
  if (block === undefined) throw new Error(`${file} has no block that begins with \`\`\`ts ${mark}`);
  return block.text;
}
