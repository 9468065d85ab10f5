import { jestTest, quickStart, vitestTest } from './readme-sources.mjs';

/**
 * The sources of an application that depend on the entry points which it can use, and those of the README.
 *
 * @param {import('./applications.mjs').ApplicationKind} kind
 * @param {{ usable: readonly import('./package-under-test.mjs').EntryPoint[] }} entryPoints
 * @returns {Record<string, string>} by the names of their files
 */
export function generatedSources({ tools }, { usable }) {
  const specifiers = usable.map(({ specifier }) => `'${specifier}'`);
  const exported = specifiers.map((specifier, index) => `export * as entryPoint${index} from ${specifier};`);
  const required = specifiers.map(
    (specifier, index) => `exports.entryPoint${index} = require(${specifier});`,
  );
  return {
    'src/main.ts': quickStart(),
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
