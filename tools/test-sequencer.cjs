// The order of specs where no earlier run tells how long each takes, as in CI.
//
// Jest goes by size then, the largest first. The smallest play suites of other files, a contract or thousands of
// schedules, and take longest: they came last, and the run waited for one of them alone.
'use strict';
const { default: Sequencer } = require('@jest/test-sequencer');

/** Bytes of a spec that says little itself. */
const PLAYS_ANOTHER_FILE = 1_100;

/** @param {import('@jest/test-result').Test} test */
function isShort({ context, path }) {
  return (context.hasteFS.getSize(path) ?? Infinity) < PLAYS_ANOTHER_FILE;
}

module.exports = class extends Sequencer {
  /**
   * @param {import('@jest/test-result').Test[]} tests
   * @override
   */
  async sort(tests) {
    // oxlint-disable-next-line unicorn/no-array-sort -- It is Jest's.
    const sorted = await super.sort(tests);
    if (sorted.some(({ duration }) => duration !== undefined)) return sorted;
    return [...sorted.filter(isShort).toReversed(), ...sorted.filter((test) => !isShort(test))];
  }
};
