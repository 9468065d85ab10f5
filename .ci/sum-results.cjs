// Prints "N passed, N failed": node sum-results.cjs <exit status> <report of jest --json>...
'use strict';
const { existsSync, readFileSync } = require('node:fs');

const [status, ...reports] = process.argv.slice(2);
let passed = 0;
let failed = 0;
/** @type {string[]} */
const unsteady = [];
for (const file of reports.filter(existsSync)) {
  const report = JSON.parse(readFileSync(file, 'utf8'));
  passed += report.numPassedTests;
  failed += report.numFailedTests + report.numRuntimeErrorTestSuites;
  for (const { name, assertionResults } of report.testResults) {
    for (const { fullName, invocations, ...test } of assertionResults) {
      if (test.status === 'passed' && invocations > 1) unsteady.push(`${name}: ${fullName}`);
    }
  }
}
// A failed step without a failed test, such as the linter, counts as one.
if (status !== '0' && failed === 0) failed = 1;
if (unsteady.length > 0) console.log(`Passed only when run once more:\n${unsteady.join('\n')}`);
console.log(`${passed} passed, ${failed} failed`);
