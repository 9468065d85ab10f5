import { LockConfigError } from '../../errors/lock.error.js';
import { refuseOption } from '../option-checks.js';

/** Rejects ioredis options with sentinels that can never lead to a master. */
export function assertSentinels(connection: object): void {
  if (!('sentinels' in connection) || connection.sentinels === undefined || connection.sentinels === null)
    return;
  const { sentinels } = connection;
  if (!Array.isArray(sentinels) || sentinels.length === 0)
    refuseOption('connection.sentinels', sentinels, 'an array of at least one { host, port }');
  const name: unknown = 'name' in connection ? connection.name : undefined;
  if (typeof name !== 'string' || name === '')
    refuseOption('connection.name', name, 'the name under which the sentinels know the master');
  if ('role' in connection && connection.role === 'slave') {
    throw new LockConfigError(
      "connection.role is 'slave', but a replica grants no locks: omit role for the master.",
    );
  }
}
