import { ServerTimes } from '../../../lib/store/redis/server-times.js';
import { ManualClock } from '../engine/manual-clock.js';

/** The server's time at the start, in microseconds. */
const START = 1e15;

describe('The clock of a server', () => {
  it('is read from a reply once 100 ms have passed since the last reading', () => {
    const clock = new ManualClock();
    const times = new ServerTimes(clock);
    const startedAt = clock.now();
    const readings: number[] = [];
    for (const pause of [0, 99, 1, 99, 1]) {
      clock.skip(pause);
      const passed = clock.now() - startedAt;
      const read = (): number => {
        readings.push(passed);
        return START + 1_000 * passed;
      };
      times.observe(read, 'a', clock.now());
    }

    expect(readings).toEqual([0, 100, 200]);
  });

  it('is known for each server from its first reading', () => {
    const clock = new ManualClock();
    const times = new ServerTimes(clock);
    times.observe(() => START, 'a', clock.now());
    clock.skip(50);

    expect([times.in(500, 'a'), times.in(500, 'b')]).toEqual([String(START + 550_000), '']);
  });

  it('is formatted again for another delay, a new reading, or after 2 % of the delay', () => {
    const clock = new ManualClock();
    const times = new ServerTimes(clock);
    times.observe(() => START, 'a', clock.now());
    const told = (delay: number): number => Number(times.in(delay, 'a')) - START;
    const first = told(500);
    clock.skip(9);
    const within = [told(500), told(501)];
    clock.skip(11);
    const later = told(501);
    clock.skip(80);
    const before = told(501);
    // The server's clock was set forward by a second.
    times.observe(() => START + 1_100_000, 'a', clock.now());

    expect([first, ...within, later, before]).toEqual([500_000, 500_000, 510_000, 521_000, 601_000]);
    expect(told(501)).toBe(1_601_000);
  });
});
