import { Redis, type RedisOptions } from 'ioredis';
import { reconnectDelay } from '../../../../lib/store/redis/connection/reconnecting.js';
import { openIoredis } from '../../../../lib/store/redis/ioredis/ioredis-clients.js';
import { commandScript } from '../../../../lib/store/scripts/command.script.js';

describe('A client of ioredis that is passed in', () => {
  const unconnected = (options: RedisOptions): Redis => new Redis({ ...options, lazyConnect: true });
  const sentinels = { sentinels: [{ host: '127.0.0.1', port: 26_379 }], name: 'master' };

  it('is warned of if it finds its master by sentinels without listening to them', () => {
    const warningOf = (options: RedisOptions): string | undefined =>
      openIoredis(unconnected(options)).warning;

    expect(warningOf(sentinels)).toMatch(
      /^The ioredis client of the locks .* set failoverDetector: true in its options\.$/,
    );
    expect([{ ...sentinels, failoverDetector: true }, {}].map(warningOf)).toEqual([undefined, undefined]);
  });

  it('gives its other connections its retryStrategy, or one if it has none', () => {
    const strategyOf = (options: RedisOptions): unknown => {
      const redis = unconnected(options);
      const duplicated = jest.spyOn(redis, 'duplicate');
      openIoredis(redis).open(true);
      return duplicated.mock.calls[0]?.[0]?.retryStrategy;
    };
    const own = (): number => 50;

    expect(strategyOf({ retryStrategy: own })).toBe(own);
    expect(strategyOf({ retryStrategy: null })).toBe(reconnectDelay);
  });

  it.each([
    ['only the text of a script if it reconnects after', 'NOSCRIPT', 'eval'],
    ['also its digest if it reconnects after', 'READONLY', 'evalsha'],
  ] as const)('is sent %s %s', async (_, reply, command) => {
    const reconnectOnError = ({ message }: Error): boolean => message.startsWith(reply);
    const redis = unconnected({ reconnectOnError });
    jest.spyOn(redis, command).mockResolvedValue('the reply');
    const call = { script: commandScript, keys: ['key'], args: ['TIME'] };

    await expect(openIoredis(redis).commands.evaluate(call, 'digest')).resolves.toBe('the reply');
  });

  it('reports the same trouble with sentinels in the same words each time', () => {
    const redis = unconnected(sentinels);
    const reported: string[] = [];
    openIoredis(redis).commands.on('error', (error) => reported.push(String(error)));
    for (const delay of [10, 20])
      redis.emit(
        'error',
        new Error(
          `All sentinels are unreachable. Retrying from scratch after ${delay}ms. Last error: timeout`,
        ),
      );

    const once = 'Error: All sentinels (127.0.0.1:26379) are unreachable. Last error: timeout';
    expect(reported).toEqual([once, once]);
  });
});

describe('A client of ioredis without the option connection', () => {
  it('is for the server at localhost:6379, and connects before its first command', () => {
    const clients = openIoredis(undefined);

    expect([clients.where, clients.isTls, clients.isLazy]).toEqual(['localhost:6379', false, false]);
  });
});
