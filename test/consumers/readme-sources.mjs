import { readFileSync } from 'node:fs';
import { lexer } from 'marked';

/**
 * The application of the README.
 *
 * @param {string} [nodeRedis] the package of node-redis, where it has that for its client
 */
export function quickStart(nodeRedis) {
  const source = replaced(blockMarked('runnable', 'README.md'), [['delay(5_000)', 'delay(50)']]);
  if (nodeRedis === undefined) return source;
  return replaced(source, [
    [
      "import { Redis } from 'ioredis';",
      `import { nodeRedis } from 'nest-redis-lock/node-redis';\nimport { createClient } from '${nodeRedis}';`,
    ],
    ['new Redis(url)', 'createClient({ url })'],
    ["await redis.set('book', 1);", "await redis.connect();\n  await redis.set('book', 1);"],
    ['connection: url', 'connection: nodeRedis(createClient({ url }))'],
  ]);
}

/**
 * @param {string} source
 * @param {readonly (readonly [text: string, replacement: string])[]} changes
 */
function replaced(source, changes) {
  return changes.reduce((text, [old, replacement]) => {
    if (!text.includes(old)) throw new Error(`The quick start has no ${old}`);
    return text.replace(old, replacement);
  }, source);
}

/**
 * The same for Deno, which rejects some of the signals that Nest listens to by default.
 *
 * @param {string} source
 */
export function withNamedSignals(source) {
  const named = source.replace('enableShutdownHooks()', "enableShutdownHooks(['SIGINT', 'SIGTERM'])");
  if (named === source) throw new Error('The quick start enables no shutdown hooks');
  return named;
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
