// Runs a failed test of CI once more if its subject is the time that another program takes. On CI's shared machines
// such a test can fail without a defect. .ci/run prints every test that passed only then. In all other files, a single
// failure counts.
'use strict';

/** Files and folders below test, with the reason. */
const TIMED_BY_OTHERS = {
  'topology/sentinel/': 'sentinels elect a master by timeouts of their own',
  'topology/cluster/': 'nodes of a Cluster elect a master by timeouts of their own',
  'topology/quorum/': 'a majority of nodes must answer within nodeTimeout',
  'topology/replicas/': 'replicas must confirm a write in time',
  'redis/': 'short leases and waits expire if Redis gets no processor',
  'contract/': 'short leases and waits expire if Redis gets no processor',
  'e2e/': 'short leases and waits expire if Redis gets no processor',
  'cli/': 'a command starts a process of its own',
  'samples/': 'a sample starts several processes and a browser',
  'site/': 'a browser renders the pages',
};

const { testPath = '' } = expect.getState();
if (process.env.CI && Object.keys(TIMED_BY_OTHERS).some((place) => testPath.includes(`/test/${place}`))) {
  jest.retryTimes(1, { logErrorsBeforeRetry: true });
}
