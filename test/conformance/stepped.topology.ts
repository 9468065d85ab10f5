import type { StoreEvents } from '../../lib/store/lock-store.js';
import { KeySpace } from '../../lib/store/redis/key-space.js';
import type { RedisStoreSettings, Topology } from '../../lib/store/redis/topology.js';
import type { SteppedRedis } from './stepped-redis.js';

/** Stands for `EndpointTopology` in a `RedisStore`: one {@link SteppedRedis}, without a connection of its own. */
export class SteppedTopology implements Topology {
  readonly connection = {
    connectAhead: (): void => undefined,
    ready: (): Promise<void> => Promise.resolve(),
    trouble: new Error('The server does not answer.'),
  };
  readonly keySpace = new KeySpace('common', 'lock:');
  readonly inbox = {
    listen: (): void => undefined,
    canReceive: (): boolean => this.redis.isHeard(this.keySpace.revocations + this.settings.instance),
    doubt: (): void => undefined,
  };
  readonly receivers = 'counted';
  private readonly redis: SteppedRedis;

  constructor(
    connection: unknown,
    private readonly settings: RedisStoreSettings,
  ) {
    this.redis = connection as SteppedRedis;
  }

  runnerOf(): ReturnType<Topology['runnerOf']> {
    const run = this.redis.run.bind(this.redis);
    return { isIdle: true, letMessagesLead: () => undefined, run, runWithoutTimeout: run };
  }

  serverOf(): string {
    return '';
  }

  open(_events: StoreEvents): void {}

  async *names(): AsyncGenerator<readonly string[], void> {}

  close(): void {}
}
