import type { Cluster } from 'ioredis';
import { LockConfigError } from '../../errors/lock.error.js';
import type { ClusterDescription, NodeRedisConnection } from '../module-options.interface.js';
import { assertOptions, assertOptionsObject, checksOf, printableValue } from '../option-checks.js';
import { loadIoredis } from './load-ioredis.js';
import { redactedConnection, BAD_ESCAPE, hasBadEscape } from '../redacted-connection.js';

/** A connection to a Cluster. */
export type ClusterOption = Cluster | ClusterDescription | NodeRedisClusterConnection;

const CHECKS = checksOf({ nodes: { check: checkNodes }, options: { check: assertOptionsObject } });

/**
 * Rejects a description of a Cluster that can never work. ioredis checks its own options, which messages never show.
 */
export function assertClusterDescription(description: object): void {
  assertOptions('connection', description, CHECKS, 'connection.');
  checkNodes('connection.nodes', Reflect.get(description, 'nodes'));
  assertShardedPubSub();
}

function checkNodes(option: string, nodes: unknown): void {
  if (!Array.isArray(nodes) || nodes.length === 0) {
    throw new LockConfigError(
      `${option} must be an array of at least one node of the Cluster, such as [{ host: '10.0.0.1', port: 6379 }].`,
    );
  }
  nodes.forEach((node: unknown, index) => assertNode(node, `${option}[${index}]`));
}

/** Rejects an ioredis without sharded pub/sub, which would take messages of a slot for replies to commands. */
export function assertShardedPubSub(): void {
  if (loadIoredis().Command.checkFlag('ENTER_SUBSCRIBER_MODE', 'ssubscribe')) return;
  throw new LockConfigError('connection is a Redis Cluster, which needs ioredis 5.3 or newer.');
}

function assertNode(node: unknown, field: string): void {
  if (typeof node === 'number' && isPort(node)) return;
  if (typeof node === 'string' && hasBadEscape(node))
    throw new LockConfigError(`${field} ${redactedConnection(node)} ${BAD_ESCAPE}.`);
  if (typeof node === 'string' && /^[^?#]*\?/.test(node))
    throw new LockConfigError(
      `${field} ${redactedConnection(node)} has a query: set its parameters in connection.options.redisOptions.`,
    );
  if (typeof node === 'string' && node.trim() !== '') return;
  if (typeof node === 'object' && node !== null && 'port' in node && isPort(Number(node.port))) return;
  if (typeof node === 'object' && node !== null && 'host' in node && !('port' in node)) return;
  throw new LockConfigError(
    `${field} must be { host, port }, a redis:// URL or a port of 127.0.0.1, but is ${printableValue(node)}.`,
  );
}

function isPort(port: number): boolean {
  return Number.isInteger(port) && port >= 1 && port <= 65_535;
}

/** Whether a connection is a Cluster, as a description or as a client. */
export function isClusterConnection(connection: unknown): connection is ClusterOption {
  if (typeof connection !== 'object' || connection === null) return false;
  if (isNodeRedis(connection)) return connection.kind === 'cluster';
  // A client has a method of the name `nodes`.
  return isClusterClient(connection) || ('nodes' in connection && Array.isArray(connection.nodes));
}

/** Whether a connection is an ioredis client of a Cluster. */
export function isClusterClient(connection: object): connection is Cluster {
  return 'isCluster' in connection && connection.isCluster === true;
}

/** A connection to a Cluster over node-redis. */
export interface NodeRedisClusterConnection extends NodeRedisConnection {
  readonly kind: 'cluster';
}

/** Whether a connection was created by `nodeRedis()`. */
export function isNodeRedis(connection: unknown): connection is NodeRedisConnection {
  return typeof connection === 'object' && connection !== null && 'openClients' in connection;
}
