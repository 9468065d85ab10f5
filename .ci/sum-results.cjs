// Prints "N passed, N failed": node sum-results.cjs <exit status> <report of jest --json>...
'use strict';
const { existsSync, readFileSync } = require('node:fs');

const [status, ...reports] = process.argv.slice(2);
let passed = 0;
let failed = 0;
for (const file of reports.filter(existsSync)) {
  const report = JSON.parse(readFileSync(file, 'utf8'));
  passed += report.numPassedTests;
  failed += report.numFailedTests + report.numRuntimeErrorTestSuites;
}
// A failed step without a failed test, such as the linter, counts as one.
if (status !== '0' && failed === 0) failed = 1;
console.log(`${passed} passed, ${failed} failed`);
