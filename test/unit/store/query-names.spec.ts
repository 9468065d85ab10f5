import { snapshot } from '../../../lib/store/redis/query-names.js';

describe('the reply of a server about a lock', () => {
  const NOW = 1_800_000_000_000_000;

  function waited(since: number): number | undefined {
    return snapshot('n', [NOW, null, -2, ['one-1-2', String(since)], []]).pending[0]?.waited;
  }

  it('shows for how many milliseconds an instance has waited', () => {
    expect(waited(NOW - 1_500)).toBe(1.5);
  });

  it('shows whole milliseconds of a lease, also of one by hand-off', () => {
    const ends = ['a~s1:1799000000000001', '1800000000300.5', 'b~s2of3:1800000000000007', '1800000000301'];
    const { held } = snapshot('n', [NOW + 400, 'shared', 301, [], ends]);

    expect(held.map(({ remaining }) => remaining)).toEqual([300, 301]);
    expect(held).toMatchObject([
      { fencingToken: 1_799_000_000_000_001, since: new Date(1_799_000_000_000) },
      { fencingToken: 1_800_000_000_000_007, permits: 2 },
    ]);
  });

  it.each([
    ['queue', null, []],
    ['shared holders', [], null],
  ])('is refused without a list: %s', (_, queue, shared) => {
    expect(() => snapshot('n', [NOW, null, -2, queue, shared])).toThrow(
      'is not a reply of a script of this package',
    );
  });

  it('shows no wait that begins later', () => {
    expect(waited(NOW + 8_000)).toBe(0);
  });
});
