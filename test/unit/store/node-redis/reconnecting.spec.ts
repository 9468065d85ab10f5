import { untiringStrategyOf } from '../../../../lib/store/redis/node-redis/node-redis.js';

const LOST = new Error('The connection was lost.');

describe('The delay before a client of node-redis reconnects to a server that may move', () => {
  it.each([
    ['is that of the strategy of the user', (retries: number) => 7 * (retries + 1), [7, 14, 21]],
    ['grows without such a strategy', undefined, [50, 100, 150]],
    ['grows if the strategy gives up', () => false as const, [50, 100, 150]],
    ['grows if the strategy returns an error', () => LOST, [50, 100, 150]],
    [
      'grows if the strategy throws',
      () => {
        throw LOST;
      },
      [50, 100, 150],
    ],
  ])('%s', (_, reconnectStrategy, delays) => {
    const strategy = untiringStrategyOf(reconnectStrategy && { socket: { reconnectStrategy } });

    expect([0, 1, 2].map((retries) => strategy(retries, LOST))).toEqual(delays);
  });
});
