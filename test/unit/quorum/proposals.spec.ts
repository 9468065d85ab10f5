import { Proposals } from '../../../lib/store/quorum/proposals.js';
import { ManualClock } from '../engine/manual-clock.js';

describe('the tokens that an instance proposes', () => {
  function known(...times: readonly number[]): Proposals {
    const clock = new ManualClock();
    const proposals = new Proposals(clock);
    times.forEach((time, node) => proposals.observe(node, time + clock.now() * 1_000, clock.now()));
    return proposals;
  }

  it('begin with a question, for nothing is known of the nodes’ clocks', () => {
    expect(new Proposals(new ManualClock()).next(0, 8)).toEqual({ first: 0, last: 0 });
  });

  it('follow the median of the clocks, so that one that is wrong means nothing', () => {
    const now = 1_800_000_000_000_000;
    const { first } = known(now, now + 3_600_000_000, now + 5).next(0, 1);

    expect(first).toBeGreaterThanOrEqual(now);
    expect(first).toBeLessThan(now + 3_600_000_000);
  });

  it('are never the same twice', () => {
    const proposals = known(1_000_000_000);
    const firsts = Array.from({ length: 100 }, () => proposals.next(0, 1).first);

    expect(new Set(firsts).size).toBe(100);
    expect(firsts).toEqual(firsts.toSorted((a, b) => a - b));
  });

  it('exceed what the nodes have accepted', () => {
    const proposals = known(1_000_000_000);

    expect(proposals.next(5_000_000_000, 1).first).toBe(5_000_000_001);
    expect(proposals.highestSoFar).toBe(5_000_000_001);
  });

  it('come one by one while they are ahead of the clocks, so that these catch up', () => {
    const proposals = known(1_000_000_000);
    const near = proposals.next(proposals.now + 9_000, 16);
    const ahead = proposals.next(proposals.now + 20_000, 16);

    expect(near.last - near.first).toBe(15);
    expect(ahead.last).toBe(ahead.first);
  });
});
