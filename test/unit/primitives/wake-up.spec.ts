import { AnswerWakeUp, LAST_PART, WakeUp } from '../../../lib/primitives/wake-up.js';
import { ManualClock } from '../engine/manual-clock.js';

describe.each([WakeUp, AnswerWakeUp])('%p', (Kind) => {
  let clock: ManualClock;
  let start: number;
  let rung: number[];
  let wakeUp: WakeUp;

  beforeEach(() => {
    clock = new ManualClock();
    start = clock.now();
    rung = [];
    wakeUp = new Kind(clock, (now) => rung.push(now - start));
  });

  it.each([1, 7, 300, 1_000, 60_000])('calls back after %d ms, once', async (delay) => {
    wakeUp.at(start + delay);
    await clock.advance(2 * delay);

    expect(rung).toEqual([delay]);
    expect(clock.pending).toBe(0);
  });

  it('calls back at the earliest of several times', async () => {
    wakeUp.at(start + 1_000);
    wakeUp.at(start + 300);
    wakeUp.at(start + 600);
    await clock.advance(2_000);

    expect(rung).toEqual([300]);
  });

  it('calls back at once for a time in the past', async () => {
    wakeUp.at(start - 100);
    await clock.advance(0);

    expect(rung).toEqual([0]);
  });

  it('does not call back after a clear, and calls back for the next time', async () => {
    wakeUp.at(start + 300);
    await clock.advance(200);
    wakeUp.clear();
    await clock.advance(1_000);
    expect(rung).toEqual([]);
    wakeUp.at(start + 2_000);
    await clock.advance(1_000);

    expect(rung).toEqual([2_000]);
  });
});

describe('The end of the time for an answer', () => {
  it.each([
    { delay: 1_000, blocked: [0, 1_500], rings: 1_500 + LAST_PART },
    { delay: 1_000, blocked: [0, 999], rings: 999 + LAST_PART },
    { delay: 1_000, blocked: [0, 760], rings: 760 + LAST_PART },
    { delay: 1_000, blocked: [0, 700], rings: 1_000 },
    // In the last part: as long again as the loop was blocked beyond the end, but no longer than that part.
    { delay: 1_000, blocked: [900, 1_040], rings: 1_080 },
    { delay: 1_000, blocked: [900, 3_000], rings: 3_000 + LAST_PART },
    { delay: 1_000, blocked: [900, 1_003], rings: 1_003 },
    { delay: 30, blocked: [0, 29], rings: 29 + 15 },
    { delay: 30, blocked: [0, 500], rings: 500 + 15 },
  ])('$delay ms after the request is at $rings ms if the loop is blocked from $blocked', async (times) => {
    const { delay, blocked, rings } = times;
    const [from = 0, to = 0] = blocked;
    const clock = new ManualClock();
    const start = clock.now();
    const rung: number[] = [];
    new AnswerWakeUp(clock, (now) => rung.push(now - start)).at(start + delay);
    await clock.advance(from);
    await clock.freeze(to - from);
    await clock.advance(5_000);

    expect(rung).toEqual([rings]);
  });

  it.each([
    ['is not while the loop is blocked again and again', 5, [5 * 710 + LAST_PART - 10]],
    ['is in the end, however often the loop is blocked', 20, [11 * 710 + 700]],
  ])('%s', async (_, blocks, rings) => {
    const clock = new ManualClock();
    const start = clock.now();
    const rung: number[] = [];
    new AnswerWakeUp(clock, (now) => rung.push(now - start)).at(start + 500);
    for (let i = 0; i < blocks; i++) {
      await clock.freeze(700);
      await clock.advance(10);
    }
    await clock.advance(5_000);

    expect(rung).toEqual(rings);
  });
});
