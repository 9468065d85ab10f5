// The test environment of one mutant: it runs only tests that reach the mutant, and none after a failure.
//
// Jest calls process.exit() when it bails in-band, so this environment skips the remaining tests itself.
'use strict';
const Environment = require('../../tools/test-environment.cjs');

/**
 * @typedef {{
 *   mutant?: string,
 *   tests: Record<string, string[] | null>,
 *   failed: boolean,
 *   reached: Record<string, { ms: number, mutants: string[] }>,
 * }} Run `tests` lists the wanted tests of each spec, null stands for all; `''` in `reached` is code outside of tests
 */

/** @returns {Run} */
const currentRun = () => Reflect.get(globalThis, Symbol.for('mutation run'));

/**
 * @param {{ name: string, parent?: { name: string, parent?: object } } | undefined} block
 * @returns {string}
 */
function fullName(block) {
  if (!block?.parent) return '';
  return `${fullName(/** @type {any} */ (block.parent))} ${block.name}`.trimStart();
}

module.exports = class extends Environment {
  run = currentRun();
  durations = new Map();

  /**
   * @param {import('@jest/environment').JestEnvironmentConfig} config
   * @param {import('@jest/environment').EnvironmentContext} context
   */
  constructor(config, context) {
    super(config, context);
    this.wanted = this.run.tests[context.testPath];
    /** @type {{ activeMutant?: string, currentTestId?: string, mutantCoverage?: any }} */
    this.stryker = { activeMutant: this.run.mutant, currentTestId: undefined, mutantCoverage: undefined };
    Object.assign(this.global, { __stryker__: this.stryker });
  }

  /** @override */
  async setup() {
    if (this.run.failed) throw new Error('An earlier spec has failed.');
    await super.setup();
  }

  /** @param {import('@jest/types').Circus.Event} event */
  handleTestEvent(event) {
    if (event.name === 'hook_failure' || event.name === 'error') this.run.failed = true;
    if (event.name === 'test_start') {
      const name = fullName(event.test);
      if (this.run.failed || (this.wanted && !this.wanted.includes(name))) event.test.mode = 'skip';
      else this.stryker.currentTestId = name;
    }
    if (event.name === 'test_done') {
      if (event.test.errors.length > 0) this.run.failed = true;
      this.durations.set(this.stryker.currentTestId, event.test.duration ?? 0);
      this.stryker.currentTestId = undefined;
    }
  }

  /** @override */
  async teardown() {
    const { static: outside = {}, perTest = {} } = this.stryker.mutantCoverage ?? {};
    if (this.run.mutant === undefined) {
      for (const [name, mutants] of Object.entries({ ...perTest, '': outside })) {
        this.run.reached[name] = { ms: this.durations.get(name) ?? 0, mutants: Object.keys(mutants) };
      }
    }
    await super.teardown();
  }
};
