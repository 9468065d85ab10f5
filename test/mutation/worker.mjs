// Runs specs in this process for one mutant after the other: a new process for each would start Jest again.
import { join } from 'node:path';
import { runCLI } from 'jest';
import { base, root } from '../../tools/jest/base.mjs';

const [copy = ''] = process.argv.slice(2);
const config = JSON.stringify({
  ...base,
  testMatch: ['<rootDir>/test/**/*.spec.ts'],
  testEnvironment: '<rootDir>/test/mutation/environment.cjs',
  testSequencer: '<rootDir>/test/mutation/sequencer.cjs',
  // A specifier takes the first pattern that matches. The last one is that of jest.config.json.
  moduleNameMapper: {
    '^nest-redis-lock$': join(copy, 'lib/index.ts'),
    '^nest-redis-lock/(.*)$': join(copy, 'lib/$1/index.ts'),
    '^(?:\\.\\./)+lib/(.*)\\.js$': join(copy, 'lib/$1'),
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
  testTimeout: 15_000,
  reporters: [],
});

/** @param {Pick<import('./environment.cjs').Run, 'mutant' | 'tests'>} wanted */
async function runSpecs(wanted) {
  /** @type {import('./environment.cjs').Run} */
  const run = { ...wanted, failed: false, reached: {} };
  Reflect.set(globalThis, Symbol.for('mutation run'), run);
  const began = performance.now();
  const { results } = await runCLI(
    { $0: 'jest', _: Object.keys(wanted.tests), config, runInBand: true, runTestsByPath: true, silent: true },
    [root],
  );
  const failure = results.testResults.find(({ failureMessage }) => failureMessage);
  process.send?.({
    passed: results.success,
    ms: performance.now() - began,
    reached: run.reached,
    failure: failure && `${failure.testFilePath}\n${failure.failureMessage}`,
  });
}

process.on('message', (wanted) => void runSpecs(/** @type {any} */ (wanted)));
