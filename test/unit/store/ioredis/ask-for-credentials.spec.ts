import type { Redis } from 'ioredis';
import type { Credentials, CredentialsUser } from '../../../../lib/store/redis/connection/credentials.js';
import { askForCredentials } from '../../../../lib/store/redis/ioredis/ask-for-credentials.js';
import { RedisServer } from '../../../support/redis-server.js';

describe('A client of ioredis that requests credentials', () => {
  let server: RedisServer;
  let redis: Redis;
  let user: CredentialsUser | undefined;
  const ask = jest.fn();

  beforeEach(async () => {
    server = await RedisServer.start({ password: 'secret' });
    redis = server.client({ lazyConnect: true, username: 'default' });
    ask.mockReset().mockResolvedValue(undefined);
    const add = (added: CredentialsUser) => {
      user = added;
      return () => undefined;
    };
    askForCredentials(redis, { add, ask } as unknown as Credentials);
  });
  afterEach(async () => {
    server.thaw();
    redis.disconnect();
    await server.stop();
  });

  it('opens no connection if it is closed before it has them', async () => {
    let give = (): void => undefined;
    ask.mockReturnValue(new Promise<void>((resolve) => (give = resolve)));
    const connecting = redis.connect();
    redis.disconnect();
    give();

    await expect(connecting).rejects.toThrow('The connection was closed.');
  });

  it('reports rejected credentials, and no connection that is lost during their renewal', async () => {
    await redis.connect();
    user?.adopt({ password: 'wrong' });
    await expect(user?.renew()).rejects.toThrow('WRONGPASS');
    server.freeze();
    const renewal = user?.renew();
    redis.disconnect();

    await expect(renewal).resolves.toBeUndefined();
  });
});
