import type * as ioredis from 'ioredis';
import type { LockErrorCode } from '../errors/lock.error.js';
import type { Duration } from './duration.js';
import type { LockOptions, ResolvedLockOptions } from './lock-options.interface.js';

/** `never` if ioredis is not installed, because its types are `any` then. */
type Installed<T> = [0] extends [1 & T] ? never : T;

/**
 * One Redis: a URL with credentials and database, ioredis options, an ioredis client, or `nodeRedis(client)`.
 */
export type SingleConnection =
  string | Installed<ioredis.RedisOptions> | Installed<ioredis.Redis> | NodeRedisConnection;

/**
 * A Redis Cluster: its first nodes, through which the client finds the others, and ioredis's options for it.
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

/** A connection over node-redis, created by `nodeRedis()` of `nest-redis-lock/node-redis`. */
export interface NodeRedisConnection {
  readonly kind: 'server' | 'sentinel' | 'cluster';
  /** Host and port, for one server. */
  readonly server?: string | undefined;
  /** @hidden */
  readonly openClients: () => unknown;
}

/**
 * One server, or a Cluster, as a description or as a client. This package never closes a client that is passed in.
 */
export type LockConnection = SingleConnection | ClusterDescription | Installed<ioredis.Cluster>;

/** What {@link RedisLockModuleOptions.credentials} resolves to. */
export interface LockCredentials {
  /** Default: the user of the connection, or Redis's `default`. */
  readonly username?: string;
  readonly password: string;
  /**
   * End of their validity, as a Date or in ms since 1970. If omitted, they are requested only before each connection.
   */
  readonly expiresAt?: Date | number;
}

/** Returns current credentials; see {@link RedisLockModuleOptions.credentials}. */
export type CredentialsProvider = () => Promise<LockCredentials>;

/** Options that few applications need; see {@link RedisLockModuleOptions.advanced}. */
export interface RedisLockAdvancedOptions {
  /** Maximum bytes of a result of `once`, as JSON. Default 65,536. */
  maxResult?: number;
  /**
   * Maximum time of one Redis command. The module replaces its connections that are silent for longer. Default 1,000.
   */
  commandTimeout?: Duration;
  /**
   * With a quorum: maximum time of a node's reply, but never more than a quarter of a call's `ttl`. Default 50.
   */
  nodeTimeout?: Duration;
  /**
   * How waiting instances learn of a hand-off: by a message, or, with `poll`, by asking ten times a second. All
   * instances that share locks need the same value. Default `pubsub`.
   */
  wake?: 'pubsub' | 'poll';
  /**
   * Layout of the keys behind one endpoint. With `per-name`, all keys of a name are in its slot, and each name is a
   * separate request. All instances that share locks need the same value. Default `common`.
   *
   * Use `per-name` for proxies that present many shards as one Redis. A Cluster always has this layout.
   */
  layout?: 'common' | 'per-name';
}

/** HTTP status per error code; omitted codes keep their default. */
export type LockHttpStatuses = Partial<Record<LockErrorCode, number>>;

/** Options of an acquire under a name; see {@link RedisLockModuleOptions.presets}. */
export type LockPreset = Omit<LockOptions, 'label' | 'preset' | 'signal'>;

/** Options of an acquire that say what one call is for, and so have no default of the module. */
type OptionsOfCalls = 'label' | 'limit' | 'minHold' | 'mode' | 'permits' | 'preset' | 'signal';

/** Options of `RedisLockModule.forRoot()`. The fields of LockOptions are the defaults of every acquire. */
export interface RedisLockModuleOptions extends Omit<LockOptions, OptionsOfCalls> {
  /**
   * A `redis://`, `rediss://`, `valkey://` or `valkeys://` URL, ioredis options, a Redis Cluster, an ioredis client, or
   * `nodeRedis(client)`; 127.0.0.1:6379 if omitted. An array of three, five or more independent servers is a quorum.
   * `'memory'` keeps the locks in this process.
   *
   * An explicit `undefined` is rejected.
   */
  connection?: LockConnection | readonly SingleConnection[];
  /**
   * A function that resolves to `{ username?, password, expiresAt? }`, for credentials that expire or rotate.
   *
   * The module calls it before each connection, and again after 80 % of the time until `expiresAt`; holds continue. The
   * function has 10 s to settle, and cannot be combined with a client that is passed in.
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
  /**
   * Options of acquires by name, for `@Locked(key, 'checkout')` and for the option `preset` of other calls.
   *
   * A preset overrides the defaults of the module, and the options of a call override its preset.
   *
   * @example
   * ```ts
   * RedisLockModule.forRoot({ presets: { checkout: { wait: '2s', maxHold: '1m' }, nightly: { wait: 0, minHold: '5m' } } });
   * ```
   */
  presets?: Readonly<Record<string, LockPreset>>;
  /** Prefix of every key and channel. Default `lock:`. */
  keyPrefix?: string;
  /**
   * Time for running holders to finish at shutdown, before their signals abort. Keep it at least a second shorter than
   * the platform allows between SIGTERM and SIGKILL. Default 5,000.
   */
  shutdownTimeout?: Duration;
  /**
   * Reaction to a finding of the checks after each connect: a policy that evicts locks, a replica, missing rights.
   * With `warn`, the log has a line per finding. With `error`, calls also reject with LockConfigError until a later
   * check passes. With `off`, there are no findings. Default `warn`.
   */
  startupChecks?: 'warn' | 'error' | 'off';
  /** HTTP status per error code; others keep that of the table of errors. `false` leaves lock errors unchanged. */
  http?: false | LockHttpStatuses;
  /** Timeouts and layouts whose defaults suit nearly every application. */
  advanced?: RedisLockAdvancedOptions;
}

type Settings = Pick<RedisLockModuleOptions, 'keyPrefix' | 'startupChecks'> &
  Omit<RedisLockAdvancedOptions, 'commandTimeout' | 'nodeTimeout'>;

/**
 * {@link RedisLockModuleOptions} after validation, with every default, with durations in milliseconds, and with the
 * options of `advanced` at the top level.
 */
export interface ResolvedModuleOptions extends Readonly<Required<Settings>> {
  readonly shutdownTimeout: number;
  readonly commandTimeout: number;
  readonly nodeTimeout: number;
  /** Unset means ioredis's own default. */
  readonly connection: RedisLockModuleOptions['connection'];
  readonly credentials: CredentialsProvider | undefined;
  readonly http: false | Required<LockHttpStatuses>;
  readonly defaults: ResolvedLockOptions;
  readonly presets: ReadonlyMap<string, ResolvedLockOptions>;
}
