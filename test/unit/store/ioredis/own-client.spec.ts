import { once } from 'node:events';
import { Redis } from 'ioredis';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { OwnIoredisClient } from '../../../../lib/store/redis/ioredis/ioredis-client.js';
import { waitFor } from '../../../support/wait-for.js';

/** ioredis ends a client for good when all sentinels fail while it looks for the master. */
describe('a client of our own that ioredis has ended', () => {
  let sentinel: Server;
  let visits = 0;

  beforeEach(async () => {
    visits = 0;
    sentinel = createServer((socket) => {
      visits += 1;
      socket.destroy();
    }).listen(0, '127.0.0.1');
    await once(sentinel, 'listening');
  });
  afterEach(() => {
    sentinel.close();
  });

  function client(): { redis: Redis; own: OwnIoredisClient } {
    const { port } = sentinel.address() as AddressInfo;
    const redis = new Redis({
      sentinels: [{ host: '127.0.0.1', port }],
      name: 'master',
      lazyConnect: true,
      sentinelRetryStrategy: () => null,
    });
    redis.on('error', () => undefined);
    return { redis, own: new OwnIoredisClient(redis) };
  }

  it('looks for the master again', async () => {
    const { redis, own } = client();
    let ends = 0;
    redis.on('end', () => (ends += 1));
    own.connect();
    await waitFor(() => ends >= 3, { that: 'it to end three times' });

    expect(visits).toBeGreaterThanOrEqual(3);
    own.close();
  });

  it('stays closed once it is closed', async () => {
    const { redis, own } = client();
    own.connect();
    await new Promise((resolve) => void redis.once('end', resolve));
    const connecting = jest.spyOn(redis, 'connect');
    const scheduled = jest.spyOn(globalThis, 'setTimeout');
    own.close();
    redis.emit('end');
    const [[again] = []] = scheduled.mock.calls;
    scheduled.mockRestore();
    (again as () => void)();

    expect(connecting).not.toHaveBeenCalled();
  });
});

describe('a client of our own at a frozen server', () => {
  it('ends a handshake without a reply and connects again', async () => {
    let visits = 0;
    const sockets = new Set<Socket>();
    const frozen = createServer((socket) => {
      visits += 1;
      // The client resets the connection.
      sockets.add(socket.resume().on('error', () => undefined));
    }).listen(0, '127.0.0.1');
    await once(frozen, 'listening');
    const { port } = frozen.address() as AddressInfo;
    const own = new OwnIoredisClient(new Redis({ host: '127.0.0.1', port, lazyConnect: true }));
    own.connect();
    await waitFor(() => visits >= 2, { that: 'it to connect again' });

    own.close();
    for (const socket of sockets) socket.destroy();
    frozen.close();
  });
});
