import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { checkTypes } from '../type-checkers.mjs';
import { EVERYWHERE } from './check.mjs';

const require = createRequire(import.meta.url);

// The oldest way to resolve modules is deprecated in TypeScript 6, and gone in 7. That is five times as fast, and has no
// API: it looks into the declarations of all packages.
const COMPILERS = [
  { name: 'TypeScript 5.9', package: 'typescript-5.9', lacks: [], hasApi: true },
  { name: 'TypeScript 6', package: 'typescript', lacks: ['node10'], hasApi: true },
  { name: 'TypeScript 7', package: 'typescript-7', lacks: ['node10'], hasApi: false },
];

/** What each way to resolve modules is used with. */
const MODULE_OF = { node10: 'commonjs', node16: 'node16', nodenext: 'nodenext', bundler: 'es2022' };

/**
 * Every compiler and every way to resolve modules, declarations of the package included.
 *
 * @param {import('../application.mjs').Application} application
 * @returns {import('./check.mjs').Check[]}
 */
export function declarationChecks(application) {
  return application.kind.resolutions.flatMap((resolution) =>
    COMPILERS.filter(({ lacks }) => !lacks.includes(resolution)).map((compiler) => ({
      subject: application.kind.name,
      what: `compiles, ${compiler.name}`,
      variant: resolution,
      run: () =>
        compile(application, compiler, { module: MODULE_OF[resolution], moduleResolution: resolution }),
    })),
  );
}

/**
 * @param {import('../application.mjs').Application} application
 * @param {{ package: string, hasApi: boolean }} compiler
 * @param {{ module: string, moduleResolution: string }} options
 */
function compile(application, { package: compiler, hasApi }, options) {
  const project = join(application.directory, 'tsconfig.json');
  if (hasApi) return checkTypes(require.resolve(compiler), { project, options }, application.signal);
  const { module, moduleResolution } = options;
  return application.run(process.execPath, [
    compilerOf(compiler),
    ...['--project', project, '--noEmit'],
    ...['--module', module, '--moduleResolution', moduleResolution],
  ]);
}

/** @param {string} name */
export function compilerOf(name) {
  return join(require.resolve(`${name}/package.json`), '../bin/tsc');
}

/**
 * No entry point imports what is not a peer, and neither the root nor any other that works without optional peers
 * reaches one but a client. Instrumentations are loaded before what they instrument.
 *
 * @param {import('../package-under-test.mjs').PackageUnderTest} tested
 * @returns {import('./check.mjs').Check[]}
 */
export function importChecks(tested) {
  const some = {
    // Loaded when the first of its clients is made.
    'nest-redis-lock': [...tested.neededPeers, 'ioredis'],
    'nest-redis-lock/node-redis': ['ioredis'],
    'nest-redis-lock/opentelemetry': ['@opentelemetry/api'],
    'nest-redis-lock/diagnostics': [],
  };
  return tested.entryPoints.map(({ specifier, packages }) => ({
    subject: EVERYWHERE,
    what: 'imports nothing but the peers that it needs',
    variant: specifier,
    run: async () => {
      const allowed = some[specifier] ?? tested.peers;
      assert.deepEqual(
        packages.filter((name) => !allowed.includes(name)),
        [],
        `${specifier} imports packages that users need not have`,
      );
      assert.equal(packages.length > 0, allowed.length > 0, `Nothing was found behind ${specifier}`);
    },
  }));
}
