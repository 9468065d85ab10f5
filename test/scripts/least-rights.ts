import { clusterRightsFor, rightsFor } from '../../lib/cli/doctor/rights.js';

export { READY_CHECK_RIGHT } from '../../lib/cli/doctor/rights.js';

/** What the Redis user of an application needs, beside a password: for `keyPrefix: 'lock:'`. */
export const LEAST_RIGHTS: readonly string[] = rightsFor('lock:');

/** The same on a Redis Cluster. */
export const LEAST_CLUSTER_RIGHTS: readonly string[] = [...LEAST_RIGHTS, ...clusterRightsFor('lock:')];

/** What the option `replicas` needs beside. */
export const REPLICAS_RIGHT = '+wait';

/** What `locks.list()` needs beside. */
export const LIST_RIGHT = '+scan';
