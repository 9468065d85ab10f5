import { Proposals } from '../../../../lib/store/quorum/proposals.js';
import { ManualClock } from '../../engine/manual-clock.js';

/** Milliseconds. */
const NODE_TIMEOUT = 50;

describe('the tokens that an instance proposes', () => {
  let clock: ManualClock;
  beforeEach(() => void (clock = new ManualClock()));

  function known(...times: readonly number[]): Proposals {
    const proposals = new Proposals(clock, NODE_TIMEOUT);
    tell(proposals, times);
    return proposals;
  }

  /** The nodes tell their times, less the local one. */
  function tell(proposals: Proposals, times: readonly number[]): void {
    times.forEach((time, node) => proposals.observe(node, time + clock.now() * 1_000, proposals.sending()));
  }

  it('begin with a request for the nodes’ clocks, which are unknown', () => {
    expect(new Proposals(new ManualClock(), NODE_TIMEOUT).next(0, 8)).toEqual({ first: 0, last: 0 });
  });

  it('follow the median of the clocks, so that a single wrong clock has no effect', () => {
    const now = 1_800_000_000_000_000;
    const { first } = known(now, now + 3_600_000_000, now + 5).next(0, 1);

    expect(first).toBeGreaterThanOrEqual(now);
    expect(first).toBeLessThan(now + 3_600_000_000);
  });

  it('do not follow a clock whose reply came late, which would put them ahead of it by half the trip', () => {
    const proposals = known();
    const sent = proposals.sending();
    clock.skip(NODE_TIMEOUT + 1);
    proposals.observe(0, 1_000_000_000, sent);
    expect(proposals.next(0, 1)).toEqual({ first: 0, last: 0 });

    const again = proposals.sending();
    clock.skip(NODE_TIMEOUT);
    proposals.observe(0, 1_000_000_000, again);
    expect(proposals.next(0, 1).first).toBe(1_000_000_000 + (NODE_TIMEOUT / 2) * 1_000);
  });

  it('follow the time that has passed on the local clock since the replies', () => {
    const proposals = known(1_000_400_700);
    expect(proposals.now).toBe(1_000_400_700 + clock.now() * 1_000);
    clock.skip(5_000);

    expect(proposals.now).toBe(1_000_400_700 + clock.now() * 1_000);
  });

  it('are never the same twice', () => {
    const proposals = known(1_000_000_000);
    const firsts = Array.from({ length: 100 }, () => proposals.next(0, 1).first);

    expect(new Set(firsts).size).toBe(100);
    expect(firsts).toEqual(firsts.toSorted((a, b) => a - b));
  });

  it('are never the same twice after tokens that a node has accepted a little ahead of the clocks', () => {
    const proposals = known(1_000_000_000);
    const ahead = proposals.next(proposals.now + 900_000, 2);

    expect(proposals.next(0, 1).first).toBeGreaterThan(ahead.last);
  });

  it('are never the same twice after a token that a node has accepted a second ahead of the clocks', () => {
    const proposals = known(1_000_000_000);
    const { now } = proposals;
    const firsts = [0, now + 999_999, 0].map((last) => proposals.next(last, 1).first);

    expect(firsts).toEqual([now, now + 1_000_000, now + 2]);
  });

  it('return to the clocks after a lead of one second', () => {
    const proposals = known(1_000_000_000);
    const { now } = proposals;
    const firsts = [now + 999_998, 0, 0].map((last) => proposals.next(last, 1).first);

    expect(firsts).toEqual([now + 999_999, now + 1_000_000, now]);
  });

  it('exceed the accepted tokens of the nodes', () => {
    const proposals = known(1_000_000_000);

    expect(proposals.next(5_000_000_000, 1).first).toBe(5_000_000_001);
    expect(proposals.next(0, 1).first).toBeLessThan(5_000_000_000);
  });

  it('are single if they lead the clocks, so that these catch up', () => {
    const proposals = known(1_000_000_000);
    const near = proposals.next(proposals.now + 9_000, 16);
    const ahead = proposals.next(proposals.now + 15_000, 16);

    expect(near.last - near.first).toBe(15);
    expect(ahead.last).toBe(ahead.first);
  });

  it.each([
    [9_990, 10],
    [9_998, 2],
    [10_000, 1],
  ])('form blocks that end at most 10 ms ahead of the clocks: %i µs, block of %i', (lead, size) => {
    const proposals = known(1_000_400_700);
    const last = proposals.now + lead;

    expect(proposals.next(last, 16)).toEqual({ first: last + 1, last: last + size });
  });

  it('form blocks beyond a token from before the clocks were set back', () => {
    const proposals = known(1_000_000_000);
    const { first, last } = proposals.next(proposals.now + 3_600_000_000, 16);

    expect(last - first).toBe(15);
  });

  it('follow the nodes’ clocks when these are set back', () => {
    const proposals = known(4_600_000_000);
    expect(proposals.next(0, 1).first).toBeGreaterThan(4_600_000_000);
    tell(proposals, [1_000_000_000]);

    expect(proposals.next(0, 1).first).toBeLessThan(1_100_000_000);
  });

  it('do not follow the local clock when that may have jumped: the nodes are asked again', () => {
    const proposals = known(1_000_000_000);
    const underWay = proposals.sending();
    clock.sleep(3_600_000);
    expect(proposals.next(0, 1)).toEqual({ first: 0, last: 0 });
    proposals.observe(0, 1_000_000_000, underWay);
    expect(proposals.next(0, 1)).toEqual({ first: 0, last: 0 });
    proposals.observe(0, 1_000_000_000, proposals.sending());

    expect(proposals.next(0, 1).first).toBeLessThan(1_100_000_000);
  });
});
