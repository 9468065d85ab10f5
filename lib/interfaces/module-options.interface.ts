import type { Cluster, ClusterNode, ClusterOptions, Redis, RedisOptions } from 'ioredis';
import type { LockErrorCode } from '../errors/lock.error.js';
import type { LockOptions, ResolvedLockOptions } from './lock-options.interface.js';

/** One Redis: a URL (`redis://` or `rediss://`, with credentials and database), ioredis options, or a ready client. */
export type SingleConnection = string | RedisOptions | Redis;

/**
 * A Redis Cluster: nodes to begin with, and ioredis's options for it. The others are found through them.
 *
 * @example
 * ```ts
 * const connection = { nodes: ['redis://10.0.0.1:6379'], options: { redisOptions: { password: 'secret' } } };
 * ```
 */
export interface ClusterDescription {
  readonly nodes: readonly ClusterNode[];
  readonly options?: ClusterOptions;
}

/**
 * Where Redis is: one server, or a Cluster, described or as a ready client. A client that is passed in is never
 * closed by this package.
 */
export type LockConnection = SingleConnection | ClusterDescription | Cluster;

/** How a name that several callers want is handed on. */
export interface HandoffOptions {
  /** Holds in a row that an instance may serve from memory while other instances wait. Default 32. */
  max?: number;
  /** Milliseconds since Redis last answered about a name for which holds are served from memory. Default 20. */
  window?: number;
}

/** HTTP status per error code; codes that are left out keep their default. */
export type LockHttpStatuses = Partial<Record<LockErrorCode, number>>;

/** Options of `RedisLockModule.forRoot()`. The fields of LockOptions are the defaults of every acquire. */
export interface LockModuleOptions extends Omit<LockOptions, 'signal'> {
  /**
   * Default: 127.0.0.1:6379, as ioredis does. An explicit `undefined` is refused. An array of three, five or more
   * independent Redis servers makes a quorum: a lock is held while a majority of them keeps it.
   */
  connection?: LockConnection | readonly SingleConnection[];
  /** Goes before every key and channel. Default `lock:`. */
  keyPrefix?: string;
  /** Callers of one instance that may wait for one name. Default 10,000. */
  maxWaiters?: number;
  /** Milliseconds that one Redis command may take. Default 1,000. */
  commandTimeout?: number;
  /**
   * With a quorum: milliseconds that one node may take for its answer, at most a quarter of `ttl`. A call with a
   * shorter `ttl` gives it a quarter of that. Default 50.
   */
  nodeTimeout?: number;
  handoff?: HandoffOptions;
  /**
   * How waiting instances learn of a lock that was handed to them: by a message, or by asking ten times a second, for
   * servers without pub/sub. The same for all instances that share locks. Default `pubsub`.
   */
  wake?: 'pubsub' | 'poll';
  /** Where LockInterceptor is registered: on each class that has a locked method, or for the whole application. Default `class`. */
  interceptor?: 'class' | 'global';
  /** HTTP status per error, or false to leave lock errors as they are. */
  http?: false | LockHttpStatuses;
}

/** {@link LockModuleOptions} after validation, with every default filled in. */
export interface ResolvedModuleOptions {
  /** Unset means ioredis's own default. */
  readonly connection: LockConnection | readonly SingleConnection[] | undefined;
  readonly keyPrefix: string;
  readonly maxWaiters: number;
  readonly commandTimeout: number;
  readonly nodeTimeout: number;
  readonly handoff: Required<HandoffOptions>;
  readonly wake: 'pubsub' | 'poll';
  readonly interceptor: 'class' | 'global';
  readonly http: false | Required<LockHttpStatuses>;
  readonly defaults: ResolvedLockOptions;
}
