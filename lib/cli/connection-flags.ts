import type { ClusterOptions, RedisOptions } from 'ioredis';
import { isLockError } from '../errors/lock.error.js';
import type {
  LockConnection,
  RedisLockModuleOptions,
  SingleConnection,
} from '../options/module-options.interface.js';
import { loadIoredis } from '../options/connection/load-ioredis.js';
import { isTlsUrl } from '../options/connection/redis-url.js';
import { urlProblem } from '../options/connection/connection-option.js';
import { CommandError, ExitCode } from './exit-code.js';

/** Options of every command. */
export interface ConnectionFlags {
  readonly url?: readonly string[];
  readonly cluster?: boolean;
  readonly sentinel?: string;
  readonly prefix?: string;
  readonly json?: boolean;
}

const WITHOUT_IOREDIS =
  'The command line uses ioredis, which is not installed. To use it without changing the application, run: ' +
  'npx -p ioredis -p nest-redis-lock nest-redis-lock <command>';

const POSSIBLE_URLS =
  'Write --url or REDIS_URL as redis://user:password@host:6379/0, or rediss:// for TLS; valkey:// and valkeys:// also ' +
  'work. For a Cluster add --cluster, for sentinels --sentinel <name>.';

const SENTINEL_PORT = 26_379;

/** Module options from the flags and the environment: one Redis, a Cluster, the master of sentinels, or a quorum. */
export function moduleOptions(
  flags: ConnectionFlags,
): RedisLockModuleOptions & { connection: LockConnection | readonly SingleConnection[] } {
  const connection = connectionOf(flags);
  requireIoredis();
  return {
    connection,
    keyPrefix: flags.prefix ?? 'lock:',
    advanced: { commandTimeout: 3_000, nodeTimeout: 1_000 },
  };
}

/** Ends the command with a working command line if ioredis is not installed, as beside node-redis. */
function requireIoredis(): void {
  try {
    loadIoredis();
  } catch (cause) {
    if (isLockError(cause)) throw new CommandError(WITHOUT_IOREDIS, ExitCode.usage);
    throw cause;
  }
}

function connectionOf({
  url,
  cluster,
  sentinel,
}: ConnectionFlags): LockConnection | readonly SingleConnection[] {
  const urls = url ?? urlsIn(process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379');
  const [first = ''] = urls;
  if (cluster && sentinel !== undefined)
    throw new CommandError('Use either --cluster or --sentinel, not both.', ExitCode.usage);
  // Checked one by one, so that an error about one URL omits its password.
  for (const each of urls) {
    const problem = urlProblem(each);
    if (problem !== undefined) throw new CommandError(`The URL ${problem}. ${POSSIBLE_URLS}`, ExitCode.usage);
  }
  if (cluster) return { nodes: [...urls], options: clusterOptions(first) };
  if (sentinel !== undefined) return sentinelOptions(urls, sentinel);
  return urls.length === 1 ? withCredentials(first) : urls.map(withCredentials);
}

/** Splits a variable at blanks or commas; a password may also contain a comma. */
function urlsIn(text: string): string[] {
  return text.trim().split(/[\s,]+(?=(?:redis|valkey)s?:\/\/)/i);
}

/** Adds the credentials of the environment, which no list of processes shows, to a URL without a password. */
function withCredentials(text: string): string {
  const { REDIS_USERNAME, REDIS_PASSWORD } = process.env;
  const url = new URL(text);
  if (!REDIS_PASSWORD || url.password !== '') return text;
  url.password = encodeURIComponent(REDIS_PASSWORD);
  if (url.username === '') url.username = encodeURIComponent(REDIS_USERNAME ?? '');
  return url.href;
}

function clusterOptions(url: string): ClusterOptions {
  const isTls = isTlsUrl(url);
  return {
    redisOptions: { ...credentialsIn(withCredentials(url)), ...(isTls ? { tls: {} } : {}) },
    // Certificates contain host names, so names are not resolved before.
    ...(isTls ? { dnsLookup: (address, done) => done(null, address) } : {}),
  };
}

/**
 * Options for URLs of sentinels. The master has the same password as the sentinels, unless the environment has another
 * one.
 */
function sentinelOptions(urls: readonly string[], name: string): RedisOptions {
  const [first = ''] = urls;
  const { REDIS_USERNAME, REDIS_PASSWORD } = process.env;
  const { username, password } = credentialsIn(first);
  return {
    name,
    sentinels: urls.map((each) => {
      const { hostname, port } = new URL(each);
      return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(port || SENTINEL_PORT) };
    }),
    sentinelUsername: username,
    sentinelPassword: password,
    username: REDIS_USERNAME || username,
    password: REDIS_PASSWORD || password,
    db: Number(new URL(first).pathname.slice(1)),
    ...(isTlsUrl(first) ? { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true } : {}),
  };
}

function credentialsIn(text: string): Pick<RedisOptions, 'username' | 'password'> {
  const { username, password } = new URL(text);
  return {
    username: decodeURIComponent(username) || undefined,
    password: decodeURIComponent(password) || undefined,
  };
}
