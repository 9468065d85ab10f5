import { LockConfigError } from '../errors/lock-config.error.js';
import { printableValue } from './printable-value.js';

/** Refuses ioredis options that name sentinels but could never lead to a master. */
export function assertSentinels(connection: object): void {
  if (!('sentinels' in connection) || connection.sentinels === undefined || connection.sentinels === null)
    return;
  const { sentinels } = connection;
  if (!Array.isArray(sentinels) || sentinels.length === 0) {
    throw new LockConfigError(
      `connection.sentinels must be an array of at least one { host, port }, but is ${printableValue(sentinels)}.`,
    );
  }
  const name: unknown = 'name' in connection ? connection.name : undefined;
  if (typeof name !== 'string' || name === '') {
    throw new LockConfigError(
      `connection.name must be the name under which the sentinels know the master, but is ${printableValue(name)}.`,
    );
  }
  if ('role' in connection && connection.role === 'slave') {
    throw new LockConfigError(
      "connection.role is 'slave', but a replica grants no locks: leave role out for the master.",
    );
  }
}
