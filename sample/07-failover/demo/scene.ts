import type { FencedAccount } from '../contender/fenced-account.js';
import { startTogether } from '../../support/start-together.js';
import { TOPOLOGIES } from '../contender/topology.js';
import { QuorumServers } from '../servers/quorum-servers.js';
import { SentinelGroup } from '../servers/sentinel-group.js';
import { Contenders } from './contenders.js';
import { Journal } from './journal.js';

/** What a {@link Scene} is made with. */
export interface SceneOptions {
  readonly databaseUrl: string;
  readonly account: FencedAccount;
  readonly signal: AbortSignal;
}

/** The servers of both topologies, and the processes that want their locks. */
export class Scene implements AsyncDisposable {
  private constructor(
    readonly sentinel: SentinelGroup,
    readonly quorum: QuorumServers,
    readonly contenders: Contenders,
    readonly journal: Journal,
  ) {}

  static async start({ databaseUrl, account, signal }: SceneOptions): Promise<Scene> {
    await account.create(TOPOLOGIES);
    const [sentinel, quorum] = await startTogether([SentinelGroup.start(signal), QuorumServers.start()]);
    try {
      const journal = new Journal(signal);
      const servers = { sentinels: sentinel.ports, quorum: quorum.urls };
      const contenders = await Contenders.start({ servers, databaseUrl, journal, signal });
      return new Scene(sentinel, quorum, contenders, journal);
    } catch (error) {
      await Promise.all([sentinel, quorum].map((each) => each[Symbol.asyncDispose]()));
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { sentinel, quorum, contenders } = this;
    await Promise.all([contenders, sentinel, quorum].map((each) => each[Symbol.asyncDispose]()));
  }
}
