import { slotOf } from '../../../lib/store/redis/connection/slot-of.js';

/** The examples of the Redis Cluster specification, "Key distribution model" and "Hash tags". */
describe('The slot of a key in a Redis Cluster', () => {
  it('is the CRC16 of the key', () => {
    expect([slotOf('123456789'), slotOf('')]).toEqual([0x31c3, 0]);
  });

  it.each([
    ['{user1000}.following', 'user1000'],
    ['foo{{bar}}zap', '{bar'],
    ['foo{bar}{zap}', 'bar'],
    ['lock:{é}:q', 'é'],
    ['}{bar}', 'bar'],
  ])('is that of its first hash tag: %s', (key, tag) => {
    expect(slotOf(key)).toBe(slotOf(tag));
  });

  it.each([
    ['foo{}{bar}', 8363],
    ['foo}bar', 7223],
    ['foo{bar', 15_278],
  ])('is that of the whole key if it has no hash tag: %s', (key, slot) => {
    expect(slotOf(key)).toBe(slot);
  });
});
