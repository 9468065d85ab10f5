import { Gaps } from '../../../lib/engine/queue/gaps.js';

const MAX_NAMES = 1_000;
const MINUTES = 120_000;
const OURS = 'other-1-v1-000000000000:1';

describe('The gaps that an instance leaves for clients of other packages', () => {
  it('follow each turn of a name for two minutes after a foreign holder', () => {
    const gaps = new Gaps();
    gaps.note('n', 'foreign', 0);

    expect(gaps.next('n', false, 10)).toEqual({ length: 40, memory: MINUTES - 10 });
    expect(gaps.next('n', false, MINUTES - 1)).toEqual({ length: 40, memory: 1 });
    expect(gaps.next('n', false, MINUTES)).toBeUndefined();
  });

  it('are forgotten for the name with the oldest foreign holder, beyond 1,000 names', () => {
    const gaps = new Gaps();
    for (let i = 0; i < MAX_NAMES; i++) gaps.note(`n${i}`, 'foreign', 0);
    gaps.note('n0', 'foreign', 0);
    gaps.note('another', 'foreign', 0);

    expect(['n0', 'n1', 'n2'].map((name) => gaps.next(name, false, 1) !== undefined)).toEqual([
      true,
      false,
      true,
    ]);
  });

  it('are short and come once a second on a name that was not free meanwhile, if the store announces them', () => {
    const gaps = new Gaps();
    gaps.noteGrant('n', false, 0);
    gaps.noteGrant('n', false, 900);

    expect(gaps.next('n', true, 999)).toBeUndefined();
    expect(gaps.next('n', false, 1_000)).toBeUndefined();
    expect(gaps.next('n', true, 1_000)).toEqual({ length: 7, memory: 0 });
    expect(gaps.next('n', true, 1_999)).toBeUndefined();
    gaps.noteGrant('n', true, 1_999);
    expect(gaps.next('n', true, 3_000)).toBeUndefined();
  });

  it('are known from other instances: of a gap, and of a foreign holder', () => {
    const gaps = new Gaps();
    gaps.noteGrant('n', false, 0);
    gaps.noteGap('n', { memory: 0 }, 900);
    expect(gaps.next('n', true, 1_500)).toBeUndefined();
    gaps.noteGap('n', { memory: 5_000 }, 1_500);

    expect(gaps.next('n', true, 1_600)).toEqual({ length: 40, memory: 4_900 });
    expect(gaps.reaskDelay('n', OURS, 1_600)).toBe(200);
    expect(gaps.reaskDelay('n', OURS, 6_500)).toBe(1_000);
  });

  it('do not follow a holder that is unknown', () => {
    const gaps = new Gaps();
    gaps.note('n', undefined, 0);

    expect(gaps.next('n', false, 1)).toBeUndefined();
    expect(gaps.reaskDelay('n', undefined, 1)).toBe(1_000);
  });
});
