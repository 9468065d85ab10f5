import { Redis, type RedisOptions } from 'ioredis';
import { IoredisClients } from '../../../../lib/store/redis/ioredis/ioredis-clients.js';

describe('A client of ioredis that is passed in', () => {
  const warningOf = (options: RedisOptions): string | undefined =>
    new IoredisClients(new Redis({ ...options, lazyConnect: true })).warning;
  const sentinels = { sentinels: [{ host: '127.0.0.1', port: 26_379 }], name: 'master' };

  it('is warned of if it finds its master by sentinels without listening to them', () => {
    expect(warningOf(sentinels)).toContain('set failoverDetector: true in its options');
    expect([{ ...sentinels, failoverDetector: true }, {}].map(warningOf)).toEqual([undefined, undefined]);
  });
});
