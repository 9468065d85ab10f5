import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { EVERYWHERE } from './check.mjs';

const require = createRequire(import.meta.url);

const COMPILERS = [
  { name: 'TypeScript 5.9', package: 'typescript-5.9' },
  { name: 'TypeScript 6', package: 'typescript' },
  { name: 'TypeScript 7', package: 'typescript-7' },
];

/** What each way to resolve modules is used with. */
const MODULE_OF = { node16: 'node16', nodenext: 'nodenext', bundler: 'es2022' };

/**
 * Every compiler and every way to resolve modules, declarations of packages included.
 *
 * @param {import('../application.mjs').Application} application
 * @returns {import('./check.mjs').Check[]}
 */
export function declarationChecks(application) {
  return COMPILERS.flatMap(({ name, package: compiler }) =>
    application.kind.resolutions.map((resolution) => ({
      subject: application.kind.name,
      what: `compiles, ${name}`,
      variant: resolution,
      run: () =>
        application.run(process.execPath, [
          compilerOf(compiler),
          ...['--project', 'tsconfig.json', '--noEmit'],
          ...['--module', MODULE_OF[resolution], '--moduleResolution', resolution],
        ]),
    })),
  );
}

/** @param {string} name */
export function compilerOf(name) {
  return join(require.resolve(`${name}/package.json`), '../bin/tsc');
}

/**
 * No entry point imports what is not a peer, and neither the root nor any other that works without optional peers
 * reaches one.
 *
 * @param {import('../package-under-test.mjs').PackageUnderTest} tested
 * @returns {import('./check.mjs').Check[]}
 */
export function importChecks(tested) {
  return tested.entryPoints.map(({ specifier, packages }) => ({
    subject: EVERYWHERE,
    what: 'imports nothing but peers, the root no optional ones',
    variant: specifier,
    run: async () => {
      const allowed = specifier === 'nest-redis-lock' ? tested.neededPeers : tested.peers;
      assert.deepEqual(
        packages.filter((name) => !allowed.includes(name)),
        [],
        `${specifier} imports packages that users need not have`,
      );
      assert.ok(packages.length > 0, `Nothing was found behind ${specifier}`);
    },
  }));
}
