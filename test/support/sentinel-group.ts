import type { RedisOptions } from 'ioredis';
import { RedisServer } from './redis-server.js';
import { waitFor } from './wait-for.js';

const NAME = 'main';
const HOST = '127.0.0.1';
const QUORUM = 2;
/** A master that is silent for so many milliseconds is down. On a busy machine it may be alive, and then grants are lost. */
const DOWN_AFTER = 1_500;
/** What it takes to agree on that, elect and promote, on a machine that does other things, too. */
const FAILOVER = { timeout: 45_000, interval: 50 };

/** Passwords of a {@link SentinelGroup}. */
interface SentinelGroupOptions {
  readonly password?: string;
  readonly sentinelPassword?: string;
  /** Directives of redis.conf for master and replicas. */
  readonly config?: Readonly<Record<string, string | number>>;
}

/**
 * A master, its replicas, and three sentinels that watch them, as real processes on 127.0.0.1.
 *
 * @example
 * await using group = await SentinelGroup.start();
 * const client = new Redis(group.connection);
 * await group.failOver();
 */
export class SentinelGroup implements AsyncDisposable {
  private constructor(
    readonly servers: readonly RedisServer[],
    readonly sentinels: readonly RedisServer[],
    private readonly options: Required<SentinelGroupOptions>,
  ) {}

  /** Starts them and waits until every sentinel knows all the others. */
  static async start({
    password = 'among-servers',
    sentinelPassword = 'of-sentinels',
    config = {},
  }: SentinelGroupOptions = {}): Promise<SentinelGroup> {
    // A replica may become master and the other way round, so each has the password as both.
    const common = { password, config: { masterauth: password, 'repl-timeout': 5, ...config } };
    const master = await RedisServer.start(common);
    const replicas = await Promise.all(
      Array.from({ length: 2 }, () => RedisServer.start({ ...common, replicaOf: master })),
    );
    const sentinels = await Promise.all(
      Array.from({ length: 3 }, () =>
        RedisServer.start({
          password: sentinelPassword,
          role: 'sentinel',
          config: {
            [`sentinel monitor ${NAME}`]: `${HOST} ${master.port} ${QUORUM}`,
            [`sentinel auth-pass ${NAME}`]: password,
            [`sentinel down-after-milliseconds ${NAME}`]: DOWN_AFTER,
            [`sentinel failover-timeout ${NAME}`]: 5_000,
            [`sentinel parallel-syncs ${NAME}`]: 2,
          },
        }),
      ),
    );
    const group = new SentinelGroup([master, ...replicas], sentinels, { password, sentinelPassword, config });
    await group.untilSettled();
    return group;
  }

  /** What an application gives ioredis to find the master. */
  get connection(): RedisOptions {
    return {
      sentinels: this.sentinels.map(({ host, port }) => ({ host, port })),
      name: NAME,
      password: this.options.password,
      sentinelPassword: this.options.sentinelPassword,
    };
  }

  /** The server that the sentinels call master. */
  async master(): Promise<RedisServer> {
    const [, port] = await this.ask<[string, string]>('GET-MASTER-ADDR-BY-NAME');
    const master = this.servers.find((server) => String(server.port) === port);
    if (!master) throw new Error(`The sentinels name port ${port}, which is none of this group`);
    return master;
  }

  async replicas(): Promise<readonly RedisServer[]> {
    const master = await this.master();
    return this.servers.filter((server) => server !== master);
  }

  /** Lets the sentinels judge a silent master after so many milliseconds only. */
  async judgeAfter(milliseconds: number = DOWN_AFTER): Promise<void> {
    for (const sentinel of this.sentinels)
      await request(sentinel, 'SENTINEL', 'SET', NAME, 'down-after-milliseconds', String(milliseconds));
  }

  /** Kills the master, and waits until another server takes writes; returns that. */
  async failOver(): Promise<RedisServer> {
    const old = await this.master();
    await old.kill();
    return this.untilPromoted(old);
  }

  /** As an operator does for maintenance: the old master lives on, and is a master until the sentinels demote it. */
  async failOverAsPlanned(): Promise<RedisServer> {
    const old = await this.master();
    await this.ask('FAILOVER');
    return this.untilPromoted(old);
  }

  /** Waits until the old master of a planned failover takes no more writes. */
  async untilDemoted(old: RedisServer): Promise<void> {
    await waitFor(async () => (await info(old)).includes('role:slave'), {
      ...FAILOVER,
      that: 'the old master to be demoted',
    });
  }

  /** Waits until the sentinels name another master, and it takes writes. */
  async untilPromoted(old: RedisServer): Promise<RedisServer> {
    return waitFor(
      async () => {
        const master = await this.master();
        if (master === old) return undefined;
        return (await info(master)).includes('role:master') ? master : undefined;
      },
      { ...FAILOVER, that: 'another master' },
    );
  }

  /** Keeps so many replicas, all by default, from following the master any further; they stay candidates for a while. */
  async cutReplicas(count = 2): Promise<readonly RedisServer[]> {
    const master = await this.master();
    const cut = (await this.replicas()).slice(0, count);
    for (const replica of cut) {
      await request(replica, 'CONFIG', 'SET', 'masterauth', 'a wrong one');
    }
    await request(master, 'CLIENT', 'KILL', 'TYPE', 'replica');
    await waitFor(async () => onlineReplicas(await info(master)) === 2 - count, {
      that: `${count} replicas to be gone`,
    });
    return cut;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const each of [...this.sentinels, ...this.servers]) await each.stop();
  }

  private async untilSettled(): Promise<void> {
    await waitFor(async () => onlineReplicas(await info(await this.master())) === 2, {
      ...FAILOVER,
      that: 'both replicas to follow the master',
    });
    for (const sentinel of this.sentinels) {
      await waitFor(async () => this.isSettled(sentinel), {
        ...FAILOVER,
        that: `the sentinel on ${sentinel.port} to know everybody`,
      });
    }
  }

  private async isSettled(sentinel: RedisServer): Promise<boolean> {
    const master = pairs(await request<string[]>(sentinel, 'SENTINEL', 'MASTER', NAME));
    const replicas = await request<string[][]>(sentinel, 'SENTINEL', 'REPLICAS', NAME);
    const healthy = replicas.map(pairs).filter((replica) => replica.get('flags') === 'slave');
    return (
      master.get('flags') === 'master' &&
      master.get('num-other-sentinels') === String(this.sentinels.length - 1) &&
      healthy.length === 2 &&
      healthy.every((replica) => replica.get('master-link-status') === 'ok')
    );
  }

  private async ask<T>(command: string): Promise<T> {
    const [sentinel] = this.sentinels;
    if (!sentinel) throw new Error('There is no sentinel');
    return request<T>(sentinel, 'SENTINEL', command, NAME);
  }
}

function info(server: RedisServer): Promise<string> {
  return request<string>(server, 'INFO', 'replication');
}

function onlineReplicas(replication: string): number {
  return replication.match(/state=online/g)?.length ?? 0;
}

/** Over a connection of its own, for servers come and go. */
async function request<T>(server: RedisServer, command: string, ...args: string[]): Promise<T> {
  const client = server.client({ replyMapping: 'legacy', retryStrategy: () => null });
  try {
    return (await client.call(command, ...args)) as T;
  } finally {
    client.disconnect();
  }
}

function pairs(list: readonly string[]): Map<string, string> {
  const map = new Map<string, string>();
  for (let i = 0; i + 1 < list.length; i += 2) map.set(list[i] ?? '', list[i + 1] ?? '');
  return map;
}
