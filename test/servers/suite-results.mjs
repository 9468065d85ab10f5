import { SUITES } from './suites.mjs';

/**
 * @typedef {{ name: string, message: string }} Failure
 * @typedef {{ suite: string, passed: number, failures: readonly Failure[] }} SuiteResult
 * @typedef {{ fullName: string, status: string, failureMessages: string[] | null }} Assertion
 */

/**
 * What a report of `jest --json` says of some suites. One without tests has failed.
 *
 * @param {readonly string[]} suites
 * @param {{ testResults: { name: string, status: string, message: string, assertionResults: Assertion[] }[] }} report
 * @returns {SuiteResult[]}
 */
export function resultsIn(suites, { testResults }) {
  return suites.map((name) => {
    const files = testResults.filter((file) => SUITES[name]?.test(file.name));
    if (files.length === 0)
      return { suite: name, passed: 0, failures: [{ name, message: 'No test of it ran' }] };
    const tests = files.flatMap((file) => file.assertionResults);
    const failures = tests
      .filter((test) => test.status === 'failed')
      .map((test) => ({ name: test.fullName, message: test.failureMessages?.[0] ?? '' }));
    // A file that could not be loaded, for one, has no tests at all.
    const broken = files
      .filter(
        (file) =>
          file.status === 'failed' && !file.assertionResults.some(({ status }) => status === 'failed'),
      )
      .map((file) => ({ name: file.name, message: file.message }));
    const passed = tests.filter((test) => test.status === 'passed').length;
    return { suite: name, passed, failures: [...failures, ...broken] };
  });
}
