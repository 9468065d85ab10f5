import { readFileSync } from 'node:fs';
import { lexer } from 'marked';

/**
 * The application of the README.
 *
 * @param {string} [nodeRedis] the package of node-redis, where it has that for its client
 */
export function quickStart(nodeRedis) {
  const source = blockMarked('runnable', 'README.md');
  if (nodeRedis === undefined) return source;
  const connection = /connection: (process\.env.*) \}\)\],/;
  const imports = /^import .* from 'nest-redis-lock';$/m;
  if (!connection.test(source) || !imports.test(source)) throw new Error('The quick start has no connection');
  return source
    .replace(connection, 'connection: nodeRedis(createClient({ url: $1 })) })],')
    .replace(
      imports,
      `$&\nimport { nodeRedis } from 'nest-redis-lock/node-redis';\nimport { createClient } from '${nodeRedis}';`,
    );
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
