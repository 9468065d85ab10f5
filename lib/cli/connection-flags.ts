import type { ClusterOptions, RedisOptions } from 'ioredis';
import type {
  LockConnection,
  LockModuleOptions,
  SingleConnection,
} from '../options/module-options.interface.js';
import { assertConnections } from '../options/connection/quorum-option.js';
import { CommandError, ExitCode } from './exit-code.js';

/** The options that every command has. */
export interface ConnectionFlags {
  readonly url?: readonly string[];
  readonly cluster?: boolean;
  readonly sentinel?: string;
  readonly prefix?: string;
  readonly json?: boolean;
}

const SENTINEL_PORT = 26_379;

interface Credentials {
  readonly username?: string;
  readonly password?: string;
}

/** Where the locks are, as the flags and the environment say: one Redis, a Cluster, the master of sentinels, or a quorum. */
export function moduleOptions(
  flags: ConnectionFlags,
  env: NodeJS.ProcessEnv = process.env,
): LockModuleOptions & { connection: LockConnection | readonly SingleConnection[] } {
  const connection = connectionOf(flags, env);
  return { connection, keyPrefix: flags.prefix ?? 'lock:', commandTimeout: 3_000, nodeTimeout: 1_000 };
}

function connectionOf(
  { url = [], cluster, sentinel }: ConnectionFlags,
  env: NodeJS.ProcessEnv,
): LockConnection | readonly SingleConnection[] {
  const urls = url.length > 0 ? url : urlsIn(env['REDIS_URL'] ?? 'redis://127.0.0.1:6379');
  const [first = '', ...others] = urls;
  if (cluster && sentinel !== undefined)
    throw new CommandError('Leave out --cluster or --sentinel: it is either.', ExitCode.usage);
  // Each by itself, so that what is wrong with one is said without its password.
  for (const each of urls) assertConnections(each);
  if (cluster) return { nodes: [...urls], options: clusterOptions(first, env) };
  if (sentinel !== undefined) return sentinelOptions(urls, sentinel, env);
  const withPassword = urls.map((each) => withCredentials(each, env));
  return others.length === 0 ? (withPassword[0] ?? first) : withPassword;
}

/** Several in one variable are separated by blanks or commas; a password may have a comma, too. */
function urlsIn(text: string): string[] {
  return text.trim().split(/[\s,]+(?=rediss?:\/\/)/);
}

function withCredentials(text: string, env: NodeJS.ProcessEnv): string {
  const { username, password } = ofEnvironment(env);
  const url = new URL(text);
  if (password === undefined || url.password !== '') return text;
  url.password = encodeURIComponent(password);
  if (username !== undefined && url.username === '') url.username = encodeURIComponent(username);
  return url.href;
}

function clusterOptions(url: string, env: NodeJS.ProcessEnv): ClusterOptions {
  const isTls = url.startsWith('rediss:');
  return {
    redisOptions: { ...credentialsIn(url), ...ofEnvironment(env), ...(isTls ? { tls: {} } : {}) },
    // Names, of which certificates speak, are not looked up beforehand.
    ...(isTls ? { dnsLookup: (address, done) => done(null, address) } : {}),
  };
}

/** The URLs are those of sentinels. What they name as their password the master has, too, unless the environment says another. */
function sentinelOptions(urls: readonly string[], name: string, env: NodeJS.ProcessEnv): RedisOptions {
  const [first = ''] = urls;
  const { username, password } = credentialsIn(first);
  const database = new URL(first).pathname.slice(1);
  return {
    name,
    sentinels: urls.map((each) => {
      const { hostname, port } = new URL(each);
      return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(port || SENTINEL_PORT) };
    }),
    ...(username === undefined ? {} : { sentinelUsername: username }),
    ...(password === undefined ? {} : { sentinelPassword: password }),
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...ofEnvironment(env),
    ...(database === '' ? {} : { db: Number(database) }),
    ...(first.startsWith('rediss:') ? { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true } : {}),
  };
}

function credentialsIn(text: string): Credentials {
  const { username, password } = new URL(text);
  return {
    ...(username === '' ? {} : { username: decodeURIComponent(username) }),
    ...(password === '' ? {} : { password: decodeURIComponent(password) }),
  };
}

/** They keep passwords out of the list of processes. */
function ofEnvironment({
  REDIS_USERNAME: username,
  REDIS_PASSWORD: password,
}: NodeJS.ProcessEnv): Credentials {
  return { ...(username ? { username } : {}), ...(password ? { password } : {}) };
}
