import type * as redis from 'redis';
import type {
  LockConnection,
  RedisLockModuleOptions,
  SingleConnection,
} from '../../lib/options/module-options.interface.js';
import { isNodeRedis } from '../../lib/options/connection/cluster-option.js';
import type * as subPath from '../../lib/node-redis/index.js';

/** Whether suites are to run over node-redis wherever a test describes a connection: `npm run test:node-redis`. */
export const IS_OVER_NODE_REDIS = process.env['LOCKS_CLIENT'] === 'node-redis';

/** As much of ioredis's options as tests give. */
interface Described {
  readonly host?: string;
  readonly port?: number | string;
  readonly db?: number;
  readonly username?: string;
  readonly password?: string;
  readonly sentinels?: readonly { readonly host: string; readonly port: number }[];
  readonly name?: string;
  readonly sentinelPassword?: string;
  readonly nodes?: readonly { readonly host: string; readonly port: number }[];
  readonly options?: {
    readonly natMap?: Record<string, { readonly host: string; readonly port: number }>;
    readonly redisOptions?: {
      readonly username?: string;
      readonly password?: string;
      readonly connectionName?: string;
    };
  };
  readonly connectionName?: string;
}

const TRANSLATED =
  'host port db username password sentinels name sentinelPassword nodes options connectionName'.split(' ');
const OF_CLUSTERS = 'natMap redisOptions'.split(' ');
const OF_NODES = 'username password connectionName'.split(' ');

function hasOnly(given: object, known: readonly string[]): boolean {
  return Object.keys(given).every((key) => known.includes(key));
}

/** Whether it has no options that only ioredis has. */
function isTranslatable(connection: object): boolean {
  const { options = {} } = connection as Described;
  return (
    hasOnly(connection, TRANSLATED) &&
    hasOnly(options, OF_CLUSTERS) &&
    hasOnly(options.redisOptions ?? {}, OF_NODES)
  );
}

/** The same options over the client that the suites are run with. Clients that were passed in stay. */
export function byTestedClient<T extends { readonly connection?: RedisLockModuleOptions['connection'] }>(
  options: T,
): T {
  const { connection } = options;
  if (!IS_OVER_NODE_REDIS || connection === undefined) return options;
  return {
    ...options,
    connection: Array.isArray(connection)
      ? connection.map(translated)
      : translated(connection as LockConnection),
  };
}

function translated(connection: LockConnection): SingleConnection {
  // Processes that do not need them load faster.
  const { createClient, createCluster, createSentinel } = require('redis') as typeof redis;
  const { nodeRedis } = require('../../lib/node-redis/index.js') as typeof subPath;
  if (typeof connection === 'string') return nodeRedis(createClient({ url: connection }));
  if (isNodeRedis(connection) || 'evalsha' in connection || !isTranslatable(connection))
    return connection as SingleConnection;
  const { db, host, name, nodes, options, port, sentinelPassword, sentinels } = connection as Described;
  const user = userOf(connection as Described);
  if (nodes) {
    return nodeRedis(
      createCluster({
        rootNodes: nodes.map((socket) => ({ socket })),
        defaults: userOf(options?.redisOptions ?? {}),
        nodeAddressMap: options?.natMap,
      }),
    );
  }
  if (sentinels) {
    return nodeRedis(
      createSentinel({
        name: name ?? '',
        sentinelRootNodes: [...sentinels],
        nodeClientOptions: user,
        sentinelClientOptions: { password: sentinelPassword },
      }),
    );
  }
  return nodeRedis(createClient({ ...user, database: db, socket: { host, port: Number(port ?? 6379) } }));
}

function userOf({
  connectionName,
  password,
  username,
}: Pick<Described, 'connectionName' | 'password' | 'username'>) {
  return { name: connectionName, password, username };
}
