import type * as ioredis from 'ioredis';
import type { LockErrorCode } from '../errors/lock.error.js';
import type { LockOptions, ResolvedLockOptions } from './lock-options.interface.js';

/** Nothing where ioredis is not installed, whose types are `any` then. */
type Installed<T> = [0] extends [1 & T] ? never : T;

/** One Redis: a URL (`redis://` or `rediss://`, with credentials and database), ioredis options, a ready client, or one of node-redis. */
export type SingleConnection =
  string | Installed<ioredis.RedisOptions> | Installed<ioredis.Redis> | NodeRedisConnection;

/**
 * A Redis Cluster: nodes to begin with, and ioredis's options for it. The others are found through them.
 *
 * @example
 * ```ts
 * const connection = { nodes: ['redis://10.0.0.1:6379'], options: { redisOptions: { password: 'secret' } } };
 * ```
 */
export interface ClusterDescription {
  readonly nodes: readonly Installed<ioredis.ClusterNode>[];
  readonly options?: Installed<ioredis.ClusterOptions>;
}

/** A connection by node-redis, which `nodeRedis()` of `nest-redis-lock/node-redis` makes. */
export interface NodeRedisConnection {
  readonly kind: 'server' | 'sentinel' | 'cluster';
  /** Of one server. */
  readonly place?: string | undefined;
  /** @hidden */
  readonly openClients: () => unknown;
}

/**
 * Where Redis is: one server, or a Cluster, described or as a ready client. A client that is passed in is never
 * closed by this package.
 */
export type LockConnection = SingleConnection | ClusterDescription | Installed<ioredis.Cluster>;

/** What {@link RedisLockModuleOptions.credentials} resolves to. */
export interface LockCredentials {
  /** Default: the user of the connection, or Redis's `default`. */
  readonly username?: string;
  readonly password: string;
  /** Until when they can be used, as a Date or in ms since 1970. Left out: they are asked for before each connection only. */
  readonly expiresAt?: Date | number;
}

/** Gets the credentials of the moment; see {@link RedisLockModuleOptions.credentials}. */
export type CredentialsProvider = () => Promise<LockCredentials>;

/** How an instance hands a name to its own callers. */
export interface HandoffOptions {
  /**
   * Holds in a row that an instance may serve from memory while other instances wait, within `window`; where some only read, up
   * to a quarter more. Default 512.
   */
  max?: number;
  /** Milliseconds since Redis last answered about a name for which holds are served from memory. Default 20. */
  window?: number;
}

/** Options that few applications need; see {@link RedisLockModuleOptions.advanced}. */
export interface RedisLockAdvancedOptions {
  /** Callers of one instance that may wait for one name. Default 10,000. */
  maxWaiters?: number;
  /** How many names one call may take at once; beyond it LockKeyError. Default 256. */
  maxNames?: number;
  /** Milliseconds that one Redis command may take. Default 1,000. */
  commandTimeout?: number;
  /**
   * With a quorum: milliseconds that one node may take for its answer, at most a quarter of `ttl`. A call with a
   * shorter `ttl` gives it a quarter of that. Default 50.
   */
  nodeTimeout?: number;
  handoff?: HandoffOptions;
  /**
   * How waiting instances learn of a lock that was handed to them: by a message, or by polling ten times a second, for
   * servers without pub/sub. All instances that share locks need the same value. Default `pubsub`.
   */
  wake?: 'pubsub' | 'poll';
  /**
   * Where on one endpoint a lock is kept. `common`: one counter and one channel for all names, which one Redis can reach
   * together. `per-name`: everything of a name in its slot and each name in a request of its own, for proxies that present
   * many shards as one Redis, and for one that refuses with CROSSSLOT. A Cluster is always kept like that. All instances
   * that share locks need the same value. Default `common`.
   */
  layout?: 'common' | 'per-name';
}

/** HTTP status per error code; codes that are left out keep their default. */
export type LockHttpStatuses = Partial<Record<LockErrorCode, number>>;

/** Options of `RedisLockModule.forRoot()`. The fields of LockOptions are the defaults of every acquire. */
export interface RedisLockModuleOptions extends Omit<LockOptions, 'signal'> {
  /**
   * Default: 127.0.0.1:6379, as ioredis does. An explicit `undefined` is refused. An array of three, five or more
   * independent Redis servers makes a quorum: a lock is held while a majority of them keeps it.
   */
  connection?: LockConnection | readonly SingleConnection[];
  /**
   * For credentials that expire, or are rotated: asked before each connection that this package opens, and again when 80 %
   * of the time until `expiresAt` has passed; then connections that are open go on with the new ones, holds and all. One
   * that fails is asked again, after 100 ms at first and every 5 s at last, and is told of in the log. It has 10 s to
   * answer. Not for clients that are passed in. With a quorum each node asks for itself.
   *
   * @example
   * ```ts
   * RedisLockModule.forRoot({
   *   connection: { host: 'cache.example.com', port: 6379, tls: {} },
   *   credentials: async () => ({ username: 'locks', password: await token(), expiresAt: Date.now() + 900_000 }),
   * });
   * ```
   */
  credentials?: CredentialsProvider;
  /** Goes before every key and channel. Default `lock:`. */
  keyPrefix?: string;
  /**
   * Milliseconds that running holders have to end at shutdown, before their signals abort. Keep it below the time that the
   * platform allows between SIGTERM and SIGKILL, less a second. Default 5,000.
   */
  shutdownTimeout?: number;
  /** Where LockInterceptor is registered: on each class that has a locked method, or for the whole application. Default `class`. */
  interceptor?: 'class' | 'global';
  /** HTTP status per error, or false to leave lock errors as they are. */
  http?: false | LockHttpStatuses;
  /** Limits, timeouts and layouts whose defaults suit nearly every application. */
  advanced?: RedisLockAdvancedOptions;
}

type Settings = Pick<RedisLockModuleOptions, 'keyPrefix' | 'interceptor' | 'shutdownTimeout'> &
  Omit<RedisLockAdvancedOptions, 'handoff'>;

/** {@link RedisLockModuleOptions} after validation, with every default filled in and those of `advanced` beside the others. */
export interface ResolvedModuleOptions extends Readonly<Required<Settings>> {
  /** Unset means ioredis's own default. */
  readonly connection: RedisLockModuleOptions['connection'];
  readonly credentials: CredentialsProvider | undefined;
  readonly handoff: Required<HandoffOptions>;
  readonly http: false | Required<LockHttpStatuses>;
  readonly defaults: ResolvedLockOptions;
}
