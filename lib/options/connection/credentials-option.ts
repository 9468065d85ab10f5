import { LockConfigError } from '../../errors/lock.error.js';
import { isClusterClient, isNodeRedis } from './cluster-option.js';

/** Rejects connections with a password of their own, and clients that the module did not create. */
export function assertTakesCredentials(connection: unknown): void {
  const nodes: readonly unknown[] = Array.isArray(connection) ? connection : [connection];
  for (const node of nodes) {
    if (isNodeRedis(node)) {
      throw new LockConfigError(
        'credentials cannot be combined with a client of node-redis: give that client a credentialsProvider instead.',
      );
    }
    if (isClient(node)) {
      throw new LockConfigError(
        'credentials cannot be combined with a client that is passed in: give them to that client, or pass a URL or options instead.',
      );
    }
    if (hasPassword(node)) {
      throw new LockConfigError(
        'connection has a password, and credentials is set as well: remove one of them.',
      );
    }
  }
}

function isClient(connection: unknown): boolean {
  return connection instanceof Object && ('evalsha' in connection || isClusterClient(connection));
}

function hasPassword(connection: unknown): boolean {
  if (typeof connection === 'string') return URL.canParse(connection) && new URL(connection).password !== '';
  if (typeof connection !== 'object' || connection === null) return false;
  const { password, nodes, options } = connection as {
    password?: unknown;
    nodes?: unknown;
    options?: object;
  };
  if (typeof password === 'string' && password !== '') return true;
  if (Array.isArray(nodes) && nodes.some(hasPassword)) return true;
  return hasPassword(Reflect.get(options ?? {}, 'redisOptions'));
}
