import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { nodeRedis } from '../../lib/node-redis/index.js';
import { isLockError } from '../../lib/errors/lock.error.js';
import { Instance } from './instance.js';

const [client = '', port = ''] = process.argv.slice(2);

/** Waits for a lock over a client that has given up, with nothing else to keep the process alive, and prints the error. */
async function main(): Promise<void> {
  const connection =
    client === 'ioredis'
      ? new Redis(Number(port), { retryStrategy: () => null }).on('error', () => {})
      : nodeRedis(
          createClient({ socket: { port: Number(port), reconnectStrategy: false } }).on('error', () => {}),
        );
  const { locks } = new Instance({ connection, outageTimeout: 300 });
  await locks.acquire('n').catch((error: unknown) => {
    process.stdout.write(isLockError(error) ? error.code : String(error));
  });
}

void main();
