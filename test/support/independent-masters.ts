import { RedisServer, type RedisServerOptions } from './redis-server.js';
import { TcpProxy } from './tcp-proxy.js';

/** One of the servers, and the network in front of it. */
export interface IndependentMaster {
  readonly server: RedisServer;
  /** Where clients connect. */
  readonly proxy: TcpProxy;
}

/**
 * Redis servers that know nothing of each other, as a quorum wants them, each behind a network of its own.
 *
 * @example
 * await using masters = await IndependentMasters.start(5);
 * const locks = createLockService(resolveModuleOptions({ connection: masters.urls }));
 * masters.nodes[0]?.server.freeze();
 */
export class IndependentMasters implements AsyncDisposable {
  private constructor(readonly nodes: readonly IndependentMaster[]) {}

  static async start(count: number, options?: RedisServerOptions): Promise<IndependentMasters> {
    const servers = await Promise.all(Array.from({ length: count }, () => RedisServer.start(options)));
    return new IndependentMasters(
      await Promise.all(servers.map(async (server) => ({ server, proxy: await TcpProxy.start(server) }))),
    );
  }

  /** Through the proxies. */
  get urls(): string[] {
    return this.nodes.map(({ proxy }) => proxy.url);
  }

  /** Loses all locks of all servers. */
  async clear(): Promise<void> {
    await Promise.all(this.nodes.map(({ server }) => server.client().flushall()));
  }

  async stop(): Promise<void> {
    await Promise.all(
      this.nodes.map(async ({ proxy, server }) => {
        await proxy.close();
        await server.stop();
      }),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}
