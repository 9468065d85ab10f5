/** The context of every line that this package logs, for all of them to be found, or silenced, by one name. */
export const LOG_CONTEXT = 'RedisLock';
