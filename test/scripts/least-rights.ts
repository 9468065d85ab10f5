/** What the Redis user of an application needs, beside a password: for `keyPrefix: 'lock:'`. */
export const LEAST_RIGHTS: readonly string[] = [
  '~lock:*',
  '&lock:inbox:*',
  '+evalsha',
  '+eval',
  '+subscribe',
  '+publish',
  '+time',
  '+exists',
  '+get',
  '+mget',
  '+set',
  '+del',
  '+pttl',
  '+pexpire',
  '+pexpireat',
  '+zadd',
  '+zrem',
  '+zpopmin',
  '+zrange',
  '+zcard',
  '+zscore',
];

/** The same on a Redis Cluster. */
export const LEAST_CLUSTER_RIGHTS: readonly string[] = [
  ...LEAST_RIGHTS,
  '&lock:{*}:inbox:*',
  '+ssubscribe',
  '+sunsubscribe',
  '+spublish',
  '+asking',
  '+cluster|slots',
  '+cluster|info',
];

/** Lets ioredis wait while a restarted Redis loads its data; without it ioredis prints a warning at each connect. */
export const READY_CHECK_RIGHT = '+info';

/** What the option `replicas` needs beside. */
export const REPLICAS_RIGHT = '+wait';

/** What `locks.list()` needs beside. */
export const LIST_RIGHT = '+scan';
