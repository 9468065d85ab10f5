// Prints "N passed, M failed", and before it the suites that passed only in a second run:
// node sum-results.cjs <exit status> <report of jest --json>...
// A second run of what failed in X.json has left its report in X.again.json. With --few and one report: whether so few
// suites failed that they run again, 0 or 1 as its own exit status.
'use strict';
const { existsSync, readFileSync } = require('node:fs');
const { relative } = require('node:path');

const AGAIN = '.again.json';
/** Suites of a step that may fail by what other processes take from them. More are a defect, or a machine too slow. */
const FEW = 3;

const [exit, ...reports] = process.argv.slice(2);
if (exit === '--few') {
  const [report] = reports;
  const suites = existsSync(report) ? read(report).numFailedTestSuites : 0;
  process.exit(suites > 0 && suites <= FEW ? 0 : 1);
}

let passed = 0;
let failed = 0;
for (const file of reports.filter((name) => !name.endsWith(AGAIN))) {
  const suites = new Map();
  const runs = [file, file.replace('.json', AGAIN)].filter(existsSync).map(read);
  for (const suite of runs.flatMap(({ testResults }) => testResults)) {
    if (suites.has(suite.name) && suite.status === 'passed')
      console.log(`Failed, and passed when run once more without others: ${relative('', suite.name)}`);
    suites.set(suite.name, suite);
  }
  for (const { assertionResults, status } of suites.values()) {
    const having = (outcome) => assertionResults.filter((test) => test.status === outcome).length;
    passed += having('passed');
    // A suite may fail without a test that does.
    failed += status === 'failed' ? Math.max(having('failed'), 1) : 0;
  }
}
// A failed step without a failed test, such as the linter, counts as one.
if (exit !== '0' && failed === 0) failed = 1;
console.log(`${passed} passed, ${failed} failed`);

function read(file) {
  return JSON.parse(readFileSync(file, 'utf8'));
}
