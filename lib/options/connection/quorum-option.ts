import { LockConfigError } from '../../errors/lock.error.js';
import type { RedisLockModuleOptions, SingleConnection } from '../module-options.interface.js';
import { isClusterConnection, isNodeRedis } from './cluster-option.js';
import { assertConnection, MEMORY } from './connection-option.js';

/** Largest share of a lease that a node's reply may take, so that enough is left for the work. */
const LARGEST_SHARE = 1 / 4;

/** Whether a connection names several independent servers. */
export function isQuorum(
  connection: RedisLockModuleOptions['connection'],
): connection is readonly SingleConnection[] {
  return Array.isArray(connection);
}

/** Rejects a connection, or a list of connections, that can never work. */
export function assertConnections(connection: unknown): void {
  if (connection === MEMORY) return;
  if (!Array.isArray(connection)) return assertConnection(connection);
  const nodes: readonly unknown[] = connection;
  if (nodes.length < 3 || nodes.length % 2 === 0) refuseSize(nodes.length);
  nodes.forEach((node, i) => {
    assertNode(node, i);
    const twin = nodes.findIndex((other, j) => j > i && (other === node || isSameServer(other, node)));
    if (twin !== -1) {
      throw new LockConfigError(
        `connection[${i}] and connection[${twin}] are the same Redis, whose failure would cost two votes. ` +
          'List each node of the quorum once.',
      );
    }
  });
}

/** Rejects a timeout of a node that leaves too little of a lease. */
export function assertNodeTimeout(nodeTimeout: number, ttl: number): void {
  if (nodeTimeout <= ttl * LARGEST_SHARE) return;
  throw new LockConfigError(
    `advanced.nodeTimeout must be at most a quarter of ttl, because the nodes' replies use up the lease, ` +
      `but nodeTimeout is ${nodeTimeout} and ttl is ${ttl}.`,
  );
}

function refuseSize(size: number): never {
  const reason =
    size < 3
      ? 'With fewer than three nodes no majority survives the loss of one.'
      : 'An even number survives no more losses than one node fewer, and two halves can block each other.';
  throw new LockConfigError(
    `connection must list an odd number of independent Redis servers, three or more, but lists ${size}. ` +
      `${reason} For one Redis, leave out the brackets.`,
  );
}

function assertNode(node: unknown, index: number): void {
  try {
    assertConnection(node);
    if (isClusterConnection(node))
      throw new LockConfigError('it is a Redis Cluster. A node is a single master.');
  } catch (error) {
    if (!(error instanceof LockConfigError)) throw error;
    throw new LockConfigError(`connection[${index}] cannot be a node of the quorum: ${error.message}`);
  }
}

function isSameServer(one: unknown, other: unknown): boolean {
  const server = serverOf(one);
  return server !== undefined && server === serverOf(other);
}

/**
 * Host and port as far as known; a server may have several names. Ignores the database, because databases of one server
 * fail together.
 */
function serverOf(node: unknown): string | undefined {
  if (typeof node === 'string') {
    const { hostname, port } = new URL(node);
    return address(hostname, port || 6379);
  }
  if (isNodeRedis(node)) return node.server;
  const settings = node as {
    host?: unknown;
    port?: unknown;
    path?: unknown;
    sentinels?: unknown;
    options?: object;
  };
  const { host, port, path, sentinels } = { ...settings, ...settings.options };
  if (sentinels !== undefined && sentinels !== null) return undefined;
  return typeof path === 'string'
    ? path
    : address(typeof host === 'string' ? host : '127.0.0.1', Number(port ?? 6379));
}

/** Host and port in the form in which servers are compared. */
export function address(host: string, port: number | string): string {
  return `${host === 'localhost' ? '127.0.0.1' : host.toLowerCase()}:${port}`;
}
