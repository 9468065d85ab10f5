import type { NodeRedisConnection } from '../module-options.interface.js';

/** The client of a Cluster by node-redis. */
export interface NodeRedisClusterConnection extends NodeRedisConnection {
  readonly kind: 'cluster';
}

/** Whether a connection is one by node-redis. */
export function isNodeRedis(connection: unknown): connection is NodeRedisConnection {
  return typeof connection === 'object' && connection !== null && 'openClients' in connection;
}
