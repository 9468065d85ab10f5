import { Gaps } from '../../../lib/engine/queue/gaps.js';

const MAX_NAMES = 1_000;

describe('The record of names that clients of other packages use', () => {
  it('forgets the name with the oldest foreign holder, beyond 1,000 names', () => {
    const gaps = new Gaps();
    for (let i = 0; i < MAX_NAMES; i++) gaps.note(`n${i}`, 'foreign');
    gaps.note('n0', 'foreign');
    const uses = (): boolean[] => ['n0', 'n1', 'n2'].map((name) => gaps.use(name));
    expect(uses()).toEqual([true, true, true]);
    gaps.note('another', 'foreign');

    expect(uses()).toEqual([true, false, true]);
  });

  it('does not count an unknown holder, as after a split vote of a quorum', () => {
    const gaps = new Gaps();
    const ours = gaps.reaskDelay('n', 'me:1');
    gaps.note('n', undefined);

    expect(gaps.use('n')).toBe(false);
    expect(gaps.reaskDelay('n', undefined)).toBe(ours);
  });
});
