import type { NodeRedisConnection } from '../module-options.interface.js';

/** A connection to a Cluster over node-redis. */
export interface NodeRedisClusterConnection extends NodeRedisConnection {
  readonly kind: 'cluster';
}

/** Whether a connection was created by `nodeRedis()`. */
export function isNodeRedis(connection: unknown): connection is NodeRedisConnection {
  return typeof connection === 'object' && connection !== null && 'openClients' in connection;
}
