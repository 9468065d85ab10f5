import type { Redis } from 'ioredis';
import { RedisServer } from '../support/redis-server.js';

/** Starts a Redis for the tests of a `describe`, each of which finds it empty. */
export function startEmptied(started: (server: RedisServer, client: Redis) => void): void {
  let server: RedisServer;
  let client: Redis;
  beforeAll(async () => {
    server = await RedisServer.start();
    client = server.client();
    started(server, client);
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    await client.flushall();
  });
}
