import { mapped, optionsOfOneOfSeveral } from '../../../../lib/store/redis/node-redis/node-redis.js';

const INSIDE = { host: '10.0.0.1', port: 6379 };
const OUTSIDE = { host: 'proxy', port: 7001 };

describe('The address of a node behind a proxy', () => {
  it.each([
    ['a table', { '10.0.0.1:6379': OUTSIDE }, OUTSIDE],
    ['a table without the node', { '10.0.0.2:6379': OUTSIDE }, INSIDE],
    ['a function', (name: string) => (name === '10.0.0.1:6379' ? OUTSIDE : undefined), OUTSIDE],
    ['a function that knows others', () => undefined, INSIDE],
    ['nothing', undefined, INSIDE],
  ])('comes from %s', (_, map, address) => {
    expect(mapped(INSIDE, map)).toEqual(address);
  });
});

describe('The connect timeout for one of several servers', () => {
  it.each([
    ['that of the client', { connectTimeout: 7 }, 7],
    ['two seconds without one', undefined, 2_000],
  ])('is %s', (_, socket, connectTimeout) => {
    expect(optionsOfOneOfSeveral({ socket }, INSIDE)).toHaveProperty('socket.connectTimeout', connectTimeout);
  });
});
