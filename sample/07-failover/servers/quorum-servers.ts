import { startTogether } from '../../support/start-together.js';
import { RedisProcess } from '../../support/redis-process.js';

const SERVERS = 5;
/** So that a server comes back with the locks that it has promised. One that forgets them has to stay away for a lease. */
const KEEPS_EVERYTHING = { appendonly: 'yes', appendfsync: 'always' };

/** Five masters that know nothing of each other. */
export class QuorumServers implements AsyncDisposable {
  private constructor(private readonly servers: readonly RedisProcess[]) {}

  static async start(): Promise<QuorumServers> {
    const options = { config: KEEPS_EVERYTHING };
    return new QuorumServers(
      await startTogether(Array.from({ length: SERVERS }, () => RedisProcess.start(options))),
    );
  }

  get urls(): readonly string[] {
    return this.servers.map(({ url }) => url);
  }

  /** @param servers - Their numbers, from 1. */
  async kill(...servers: readonly number[]): Promise<void> {
    await Promise.all(this.numbered(servers).map((server) => server.kill()));
  }

  /** Starts them again, with the data that they had. */
  async comeBack(...servers: readonly number[]): Promise<void> {
    await Promise.all(this.numbered(servers).map((server) => server.run()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.servers.map((server) => server.stop()));
  }

  private numbered(numbers: readonly number[]): readonly RedisProcess[] {
    return this.servers.filter((_, i) => numbers.includes(i + 1));
  }
}
