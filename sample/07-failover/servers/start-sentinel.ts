import { RedisProcess } from '../../support/redis-process.js';
import { MASTER } from '../contender/connections.js';

const AGREE = 2;
/** A master that is silent for so many milliseconds is down. */
const DOWN_AFTER = 700;
const FAILOVER_TIMEOUT = 2_000;

/** Starts a sentinel that watches a master. */
export async function startSentinel({ host, port }: RedisProcess): Promise<RedisProcess> {
  return RedisProcess.start({
    args: ['--sentinel'],
    readyLine: '+monitor master',
    config: {
      [`sentinel monitor ${MASTER}`]: `${host} ${port} ${AGREE}`,
      [`sentinel down-after-milliseconds ${MASTER}`]: DOWN_AFTER,
      [`sentinel failover-timeout ${MASTER}`]: FAILOVER_TIMEOUT,
      [`sentinel parallel-syncs ${MASTER}`]: 2,
    },
  });
}
