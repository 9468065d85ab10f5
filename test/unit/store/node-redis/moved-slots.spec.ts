import { EventEmitter } from 'node:events';
import type { NodeRedis } from '../../../../lib/store/redis/node-redis/node-redis.js';
import { NodeRedisClient } from '../../../../lib/store/redis/node-redis/node-redis-client.js';

/** A client of node-redis whose connection never opens. */
class PendingClient extends EventEmitter {
  readonly isOpen = true;
  readonly isReady = false;

  connect(): Promise<never> {
    return new Promise(() => {});
  }

  unref(): void {}
}

describe('A client of node-redis', () => {
  it('reports that a slot with a subscription was moved, until the client is replaced or closed', () => {
    const made: PendingClient[] = [];
    const client = new NodeRedisClient({
      sendsAgain: true,
      make: () => {
        made.push(new PendingClient());
        return made.at(-1) as unknown as NodeRedis;
      },
    });
    const errors: unknown[] = [];
    client.on('error', (error) => errors.push(error));
    const move = (): void => made.forEach((each) => void each.emit('sharded-channel-moved'));
    client.connect();
    move();
    const moved = new Error('A slot was moved to another node.');
    expect(errors).toEqual([moved]);
    client.cut();
    move();
    expect(errors).toEqual([moved, moved]);
    client.close();
    move();

    expect(made).toHaveLength(2);
    expect(errors).toHaveLength(2);
  });
});
