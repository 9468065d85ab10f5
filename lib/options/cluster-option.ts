import { type Cluster, Command } from 'ioredis';
import { LockConfigError } from '../errors/lock-config.error.js';
import type { ClusterDescription } from '../interfaces/module-options.interface.js';
import { assertKnownOptions, assertOptionsObject } from './option-checks.js';
import { printableValue } from './printable-value.js';
import { redactedConnection } from './redacted-connection.js';
import { BAD_ESCAPE, hasBadEscape } from './url-escapes.js';

const FIELDS: ReadonlySet<string> = new Set<keyof ClusterDescription>(['nodes', 'options']);

/** Refuses a description of a Cluster that could never work. Options of ioredis are left to it, and never shown. */
export function assertClusterDescription(description: object): void {
  assertKnownOptions(description, FIELDS, 'connection.');
  const { nodes, options } = description as { nodes: unknown; options?: unknown };
  if (!Array.isArray(nodes) || nodes.length === 0) {
    throw new LockConfigError(
      'connection.nodes must be an array of at least one node of the Cluster, such as ' +
        "[{ host: '10.0.0.1', port: 6379 }].",
    );
  }
  nodes.forEach((node: unknown, index) => assertNode(node, `connection.nodes[${index}]`));
  if (options !== undefined) assertOptionsObject('connection.options', options);
  assertShardedPubSub();
}

/** ioredis takes the messages of a slot for answers to commands where it does not know of them. */
export function assertShardedPubSub(): void {
  if (Command.checkFlag('ENTER_SUBSCRIBER_MODE', 'ssubscribe')) return;
  throw new LockConfigError('connection is a Redis Cluster, which needs ioredis 5.3 or newer.');
}

function assertNode(node: unknown, field: string): void {
  if (typeof node === 'number' && isPort(node)) return;
  if (typeof node === 'string' && hasBadEscape(node))
    throw new LockConfigError(`${field} ${redactedConnection(node)} ${BAD_ESCAPE}.`);
  if (typeof node === 'string' && node.trim() !== '') return;
  if (typeof node === 'object' && node !== null && 'port' in node && isPort(Number(node.port))) return;
  if (typeof node === 'object' && node !== null && 'host' in node && !('port' in node)) return;
  const shown = typeof node === 'string' ? redactedConnection(node) : printableValue(node);
  throw new LockConfigError(
    `${field} must be { host, port }, a redis:// URL or a port of 127.0.0.1, but is ${shown}.`,
  );
}

function isPort(port: number): boolean {
  return Number.isInteger(port) && port >= 1 && port <= 65_535;
}

/** Whether a connection names a Cluster, described or as a client. */
export function isClusterConnection(connection: unknown): connection is Cluster | ClusterDescription {
  if (typeof connection !== 'object' || connection === null) return false;
  return isClusterClient(connection) || isDescription(connection);
}

/** Whether a connection is a ready client of a Cluster. */
export function isClusterClient(connection: object): connection is Cluster {
  return 'isCluster' in connection && connection.isCluster === true;
}

function isDescription(connection: object): connection is ClusterDescription {
  // A client has a method of this name.
  return 'nodes' in connection && Array.isArray(connection.nodes);
}
