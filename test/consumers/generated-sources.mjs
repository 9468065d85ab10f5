import { hasClient, hasIoredis, nodeRedisOf } from './applications.mjs';
import { jestTest, quickStart, vitestTest, withNamedSignals } from './readme-sources.mjs';

/** What is left of the type of a connection: not `any`. */
const WITHOUT_IOREDIS = `
import { RedisLockModule } from 'nest-redis-lock';

export const locks = RedisLockModule.forRoot({ connection: 'redis://127.0.0.1' });
// @ts-expect-error There is no client that would take it.
RedisLockModule.forRoot({ connection: { host: '127.0.0.1' } });
`;

/**
 * The sources of an application that depend on the entry points which it can use, and those of the README.
 *
 * @param {import('./applications.mjs').ApplicationKind} kind
 * @param {{ usable: readonly import('./package-under-test.mjs').EntryPoint[] }} entryPoints
 * @returns {Record<string, string>} by the names of their files
 */
export function generatedSources(kind, { usable }) {
  const { tools } = kind;
  const nodeRedis = nodeRedisOf(kind);
  const specifiers = usable.map(({ specifier }) => `'${specifier}'`);
  const exported = specifiers.map((specifier, index) => `export * as entryPoint${index} from ${specifier};`);
  const required = specifiers.map(
    (specifier, index) => `exports.entryPoint${index} = require(${specifier});`,
  );
  return {
    // Its stock is in Redis.
    ...(hasClient(kind) && {
      'src/main.ts': quickStart(nodeRedis),
      'src/named-signals.ts': withNamedSignals(quickStart(nodeRedis)),
    }),
    ...(!hasIoredis(kind) && { 'src/without-ioredis.ts': WITHOUT_IOREDIS }),
    'src/entry-points.ts': lines(exported),
    'one-copy/imported.mjs': lines(exported),
    'one-copy/required.cjs': lines(required),
    ...(tools['jest'] && { 'test/readme.spec.ts': jestTest() }),
    ...(tools['vitest'] && { 'test/readme.vitest.ts': vitestTest() }),
  };
}

/** @param {readonly string[]} each */
function lines(each) {
  return `${each.join('\n')}\n`;
}
