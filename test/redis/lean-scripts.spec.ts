import { Redis, type RedisOptions } from 'ioredis';
import { withLeanScripts } from '../../lib/store/redis/ioredis/lean-scripts.js';
import { duringTests } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';

const ECHO = 'return { #KEYS, KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3] }';
const SENT = [2, 'lock:{ä}', 'lock:{𝒳}', 'é'.repeat(200), '7', ''];

describe('A client with lean scripts', () => {
  const server = duringTests(() => RedisServer.start());

  const echoed = async (options: RedisOptions): Promise<unknown> => {
    const client = withLeanScripts(new Redis(server.url, options));
    try {
      const sha = String(await client.script('LOAD', ECHO));
      return await client.evalsha(sha, 2, 'lock:{ä}', 'lock:{𝒳}', 'é'.repeat(200), 7, '');
    } finally {
      client.disconnect();
    }
  };

  it('sends keys and arguments as ioredis does', async () => {
    expect(await echoed({})).toEqual(SENT);
  });

  it.each<[string, RedisOptions]>([
    ['gathers commands', { enableAutoPipelining: true }],
    ['keeps the stack of its caller', { showFriendlyErrorStack: true }],
  ])('leaves it to one that %s', async (_what, options) => {
    expect(await echoed(options)).toEqual(SENT);
  });

  it('leaves clients with a key prefix unchanged', async () => {
    expect(await echoed({ keyPrefix: 'app:' })).toEqual([
      2,
      'app:lock:{ä}',
      'app:lock:{𝒳}',
      ...SENT.slice(3),
    ]);
  });

  it('rejects as ioredis does if Redis does not know the script', async () => {
    const client = withLeanScripts(new Redis(server.url));
    await expect(client.evalsha('0'.repeat(40), 0)).rejects.toThrow('NOSCRIPT');
    client.disconnect();
  });
});
