import { Redis } from 'ioredis';
import type { RedisProcess } from '../../support/redis-process.js';

/** One question to one server, over a connection of its own, for servers come and go. The answer is JSON. */
export async function ask(
  { host, port }: RedisProcess,
  command: string,
  ...args: readonly string[]
): Promise<string> {
  const client = new Redis({ host, port, retryStrategy: () => null, replyMapping: 'legacy' });
  // The command fails with it, too.
  client.on('error', () => {});
  try {
    return JSON.stringify(await client.call(command, ...args));
  } finally {
    client.disconnect();
  }
}
