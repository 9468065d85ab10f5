import { NodeClock } from '../../../../lib/store/node-clock.js';

/** Microseconds by which the node is ahead, unless a test says otherwise. */
const AHEAD = 1_800_000_000_000_000;

describe('a node’s clock', () => {
  let clock: NodeClock;
  beforeEach(() => void (clock = new NodeClock()));

  /** An answer that took so many ms there and back. */
  function answer({
    at,
    there,
    back,
    ahead = AHEAD,
  }: {
    at: number;
    there: number;
    back: number;
    ahead?: number;
  }): void {
    clock.observe((at + there) * 1_000 + ahead, at, at + there + back);
  }

  it('is unknown before the first answer', () => {
    expect(clock.offset).toBeUndefined();
  });

  it('is the time in the middle of the trip', () => {
    answer({ at: 5, there: 2, back: 2 });

    expect(clock.offset).toBe(AHEAD);
  });

  it('is not moved by an answer that this process was slow to read', () => {
    answer({ at: 0, there: 1, back: 1 });
    answer({ at: 10, there: 1, back: 41 });

    expect(clock.offset).toBe(AHEAD);
  });

  it('is more precise after a shorter trip', () => {
    answer({ at: 0, there: 1, back: 41 });
    expect(clock.offset).toBe(AHEAD - 20_000);
    answer({ at: 100, there: 1, back: 1 });

    expect(clock.offset).toBe(AHEAD);
  });

  it.each([
    { direction: 'forward', by: 3_600_000_000 },
    { direction: 'back', by: -3_600_000_000 },
  ])('is followed when it was set $direction, though that answer took longer', ({ by }) => {
    for (let at = 0; at < 80; at += 10) answer({ at, there: 1, back: 1 });
    answer({ at: 100, there: 5, back: 5, ahead: AHEAD + by });

    expect(clock.offset).toBe(AHEAD + by);
  });

  it('is that of a shorter trip unless both trips together cannot explain the difference', () => {
    answer({ at: 0, there: 1, back: 1 });
    answer({ at: 10, there: 2, back: 2, ahead: AHEAD + 3_000 });
    expect(clock.offset).toBe(AHEAD);
    answer({ at: 20, there: 2, back: 2, ahead: AHEAD + 3_001 });

    expect(clock.offset).toBe(AHEAD + 3_001);
  });

  it('is estimated from the last replies only, because clocks drift', () => {
    answer({ at: 0, there: 0.5, back: 0.5 });
    for (let at = 10; at <= 80; at += 10) answer({ at, there: 10, back: 10, ahead: AHEAD + 1_000 });

    expect(clock.offset).toBe(AHEAD + 1_000);
  });
});
