import type { RedisClient } from '../connection/redis-client.js';

/** What connections by node-redis have in common: every client is of our own making. */
export abstract class NodeRedisSettings {
  readonly isOwned = true;
  readonly isLazy = false;
  readonly needsText = false;
  readonly keyPrefix = '';
}

/** The same for one server at a time. */
export abstract class NodeRedisServer extends NodeRedisSettings {
  readonly warning = undefined;

  listener(): RedisClient {
    return this.make(true);
  }

  confirmer(): RedisClient {
    return this.make(false);
  }

  /** @param sendsAgain - whether what was lost with a connection is sent again on the next */
  protected abstract make(sendsAgain: boolean): RedisClient;
}
