// Runs a failed test of CI once more, whose machines are shared and slow at times; .ci/run names each such test at its
// end. Not where the point is that two never hold at once, nor where nothing depends on time: there one failure counts.
'use strict';
const ONE_FAILURE_COUNTS = /\/test\/(faults|simulation|unit|scripts)\//;

if (process.env.CI && !ONE_FAILURE_COUNTS.test(expect.getState().testPath ?? '')) {
  jest.retryTimes(1, { logErrorsBeforeRetry: true });
}
