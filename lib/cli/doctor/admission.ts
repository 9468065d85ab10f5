import type { Cluster, Redis, RedisOptions } from 'ioredis';
import { loadIoredis } from '../../options/connection/load-ioredis.js';
import { isClusterConnection } from '../../options/connection/cluster-option.js';
import { parseRedisUrl } from '../../options/connection/redis-url.js';
import { isQuorum } from '../../options/connection/quorum-option.js';
import type { ClusterDescription } from '../../options/module-options.interface.js';
import { answerWithin } from '../../primitives/answer-within.js';
import { SystemClock } from '../../primitives/clock.js';
import { instanceName } from '../../store/owner-id.js';
import { KeySpace } from '../../store/redis/key-space.js';
import { OTHER_PROTOCOL } from '../../store/redis/connection/redis-error.js';
import type { moduleOptions } from '../connection-flags.js';
import { clauseOf, error, type Finding, ok } from './finding.js';
import { type DoctorSettings, Patient } from './patient.js';

/** Milliseconds within which a server must answer. */
const TIMEOUT = 3_000;

/** Client options that fail at once, without retries. */
const FAST = {
  lazyConnect: true,
  retryStrategy: () => null,
  sentinelRetryStrategy: () => null,
  connectTimeout: TIMEOUT,
  sentinelCommandTimeout: TIMEOUT,
  commandTimeout: TIMEOUT,
  disconnectTimeout: 100,
  maxRetriesPerRequest: 0,
  // The ready check needs INFO, for which the user may lack the right.
  enableReadyCheck: false,
} satisfies RedisOptions;

/** A server to check, or the reason why it cannot be checked. */
export interface Admission {
  readonly server: string;
  readonly findings: readonly Finding[];
  readonly patient?: Patient;
}

/** Connects to every server that keeps locks. */
export async function admit(
  { connection, keyPrefix = '' }: ReturnType<typeof moduleOptions>,
  given: DoctorSettings,
): Promise<readonly Admission[]> {
  const settings = isQuorum(connection) ? given : { ...given, nodeTimeout: undefined };
  if (isClusterConnection(connection))
    return admitCluster(connection as ClusterDescription, keyPrefix, settings);
  const nodes = (isQuorum(connection) ? connection : [connection]) as (string | RedisOptions)[];
  const keySpace = new KeySpace('common', keyPrefix);
  return Promise.all(
    nodes.map((node) => {
      const { Redis } = loadIoredis();
      const redis = typeof node === 'string' ? clientOf(node) : new Redis({ ...node, ...FAST });
      const channel = keySpace.revocations + instanceName();
      const { unused: key } = keySpace;
      return admitOne(new Patient(redis, { ...settings, keySpace, subscribe: 'subscribe', key, channel }));
    }),
  );
}

function clientOf(text: string): Redis {
  const { Redis } = loadIoredis();
  const { url, options } = parseRedisUrl(text);
  return new Redis(url, { ...options, ...FAST });
}

async function admitOne(patient: Patient): Promise<Admission> {
  const { redis } = patient;
  try {
    await connected(redis);
    await answerWithin(new SystemClock(), redis.time(), TIMEOUT + 500);
  } catch (reason) {
    // Any other reply proves that the server answers.
    if (!clauseOf(reason).startsWith('NOPERM')) {
      patient.close();
      return {
        server: nameOf(redis),
        findings: [error('reach', `It cannot be reached: ${hintFor(reason)}.`)],
      };
    }
  }
  const how = patient.tls === undefined ? 'without TLS' : `over ${patient.tls}`;
  return { server: nameOf(redis), patient, findings: [ok('reach', `It answers, ${how}.`)] };
}

async function admitCluster(
  { nodes, options }: ClusterDescription,
  keyPrefix: string,
  settings: DoctorSettings,
): Promise<readonly Admission[]> {
  const { Cluster } = loadIoredis();
  const cluster = new Cluster([...nodes], {
    ...options,
    lazyConnect: true,
    clusterRetryStrategy: () => null,
    enableReadyCheck: false,
    slotsRefreshTimeout: TIMEOUT,
    redisOptions: { ...options?.redisOptions, connectTimeout: TIMEOUT, disconnectTimeout: 100 },
  });
  const server = nodes
    .map(String)
    .join(', ')
    .replaceAll(/\/\/[^@/]*@/g, '//');
  try {
    await connected(cluster);
    const keySpace = new KeySpace('cluster', keyPrefix);
    const masters = cluster
      .nodes('master')
      .filter((master) => cluster.slots.some(([owner]) => owner === nameOf(master)));
    if (masters.length === 0) throw new Error('no node serves slots');
    return await Promise.all(
      masters.map((master) => {
        const key = keyAt(cluster, nameOf(master), keySpace);
        const channel = keySpace.inbox(key) + instanceName();
        const redis = master.duplicate(FAST);
        return admitOne(new Patient(redis, { ...settings, keySpace, subscribe: 'ssubscribe', key, channel }));
      }),
    );
  } catch (reason) {
    return [{ server, findings: [error('reach', `The Cluster cannot be reached: ${hintFor(reason)}.`)] }];
  } finally {
    cluster.disconnect();
  }
}

/** A lock's key in a slot of a node. */
function keyAt({ slots }: Cluster, node: string, keySpace: KeySpace): string {
  const { Command } = loadIoredis();
  for (let i = 0; ; i += 1) {
    const key = keySpace.lock(`trial-${i}`);
    const slot = new Command('get', [key]).getSlot();
    if (slots[slot]?.[0] === node) return key;
  }
}

/** Connects. The error event often says more than the rejection of `connect`. */
async function connected(client: Redis | Cluster): Promise<void> {
  let reason: unknown;
  const note = (each: unknown): unknown => (reason ??= each);
  client.on('error', note);
  client.on('node error', note);
  try {
    await answerWithin(new SystemClock(), client.connect(), TIMEOUT + 500);
  } catch (rejection) {
    const cause = reason ?? rejection;
    // On a Cluster, the error of the last node.
    throw cause instanceof Error && 'lastNodeError' in cause ? (cause.lastNodeError ?? cause) : cause;
  }
}

function hintFor(reason: unknown): string {
  const message = clauseOf(reason);
  if (/certificate|altnames/i.test(message))
    return `${message} (put the authority's certificate into NODE_EXTRA_CA_CERTS)`;
  if (/wrong version number|packet length too long|EPROTO/i.test(message))
    return 'it does not speak TLS (use redis:// instead of rediss://)';
  if (OTHER_PROTOCOL.test(message))
    return 'it does not speak the protocol of Redis (check the port, and whether it requires TLS)';
  if (/WRONGPASS|NOAUTH|AUTH called/.test(message))
    return `${message} (see REDIS_USERNAME and REDIS_PASSWORD)`;
  return message;
}

/** The name of a server; for a master behind sentinels, the address of the connection. */
function nameOf({ options, stream }: Redis): string {
  if (!options.sentinels) return options.path ?? `${options.host}:${options.port}`;
  const peer: Partial<Pick<typeof stream, 'remoteAddress' | 'remotePort'>> = stream ?? {};
  return peer.remotePort === undefined
    ? `the master ${options.name}`
    : `${peer.remoteAddress}:${peer.remotePort}`;
}
