import { createClient } from 'redis';
import { openNodeRedis } from '../../../../lib/store/redis/node-redis/node-redis-clients.js';
import type { NodeRedisTemplate } from '../../../../lib/store/redis/node-redis/node-redis.js';
import { RedisServer } from '../../../support/redis-server.js';
import { waitFor } from '../../../support/wait-for.js';

describe('A client of node-redis', () => {
  it('knows the address of its socket, because a host name may lead elsewhere by now', async () => {
    await using server = await RedisServer.start();
    const socket = { host: 'localhost', port: server.port };
    const { commands } = openNodeRedis(createClient({ socket }) as object as NodeRedisTemplate);
    commands.connect();
    await waitFor(() => commands.state === 'ready');

    expect(commands.peer).toMatch(new RegExp(`^(127\\.0\\.0\\.1|::1) ${server.port}$`));
    commands.close();
  });
});
