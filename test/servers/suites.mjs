/**
 * @typedef {{ suites: readonly string[], paths: readonly string[], args?: readonly string[] }} Run one run of Jest, and
 *   the suites that it has to have
 */

/**
 * The columns of the table, and the spec files that count there.
 *
 * @type {Readonly<Record<string, RegExp>>}
 */
export const SUITES = {
  contract: /\/lock-service\.(redis|cluster)\.spec\./,
  engine: /\/test\/redis\//,
  scripts: /\/test\/scripts\//,
  faults: /\/test\/faults\//,
  topology: /\/test\/topology\/(?!quorum\/|.*\/lock-service\.cluster\.)/,
  quorum: /\/test\/topology\/quorum\//,
};

/** In memory there is no server, so that its contract is left out. */
const CONTRACT = '/lock-service\\.(redis|cluster)\\.spec';
// The nodes of a quorum have to answer in time.
const ONE_AT_A_TIME = ['--maxWorkers=1'];

/** @satisfies {Record<string, Run>} */
export const RUNS = {
  short: { suites: ['contract', 'scripts'], paths: [CONTRACT, 'test/scripts'] },
  oneServer: {
    suites: ['contract', 'engine', 'scripts', 'faults'],
    paths: [CONTRACT, 'test/redis', 'test/scripts', 'test/faults'],
  },
  topology: {
    suites: ['topology'],
    paths: ['test/topology/(cluster/(?!lock-service)|connection|replicas|sentinel)'],
  },
  quorum: { suites: ['quorum'], paths: ['test/topology/quorum'], args: ONE_AT_A_TIME },
  cluster: {
    suites: ['contract', 'topology'],
    paths: ['test/topology/cluster'],
  },
  sentinel: { suites: ['topology'], paths: ['test/topology/sentinel'] },
};
