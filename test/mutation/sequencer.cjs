// Keeps the order in which the runner names the specs: those first that are most about the mutant.
'use strict';
const { default: Sequencer } = require('@jest/test-sequencer');

module.exports = class extends Sequencer {
  /**
   * @param {import('@jest/test-result').Test[]} tests
   * @override
   */
  sort(tests) {
    /** @type {import('./environment.cjs').Run} */
    const { tests: wanted } = Reflect.get(globalThis, Symbol.for('mutation run'));
    const order = Object.keys(wanted);
    return tests.toSorted((a, b) => order.indexOf(a.path) - order.indexOf(b.path));
  }
};
