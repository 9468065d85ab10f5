import type * as ioredis from 'ioredis';
import { LockConfigError } from '../../errors/lock.error.js';

const MISSING =
  'nest-redis-lock has no Redis client: install ioredis (npm i ioredis), or install redis (npm i redis) and pass one of its ' +
  'clients, connection: nodeRedis(createClient()), with nodeRedis of nest-redis-lock/node-redis.';

/**
 * Loads ioredis, if it is installed. Called for the first client, because an application may use node-redis instead.
 *
 * @throws LockConfigError that names what to install
 */
export function loadIoredis(): typeof ioredis {
  try {
    return require('ioredis') as typeof ioredis;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw cause;
    throw new LockConfigError(MISSING, { cause });
  }
}
