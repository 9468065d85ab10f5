import type * as ioredis from 'ioredis';
import { LockConfigError } from '../../errors/lock-config.error.js';

const MISSING =
  'nest-redis-lock needs a Redis client, and ioredis is not installed. Install it (npm i ioredis), or pass a client of ' +
  'node-redis: connection: nodeRedis(createClient()), with nodeRedis of this package.';

/**
 * ioredis, if it is installed. Loaded when the first client is made, for an application may use another one.
 *
 * @throws LockConfigError that says what to install
 */
export function loadIoredis(): typeof ioredis {
  try {
    return require('ioredis') as typeof ioredis;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw cause;
    throw new LockConfigError(MISSING, { cause });
  }
}
