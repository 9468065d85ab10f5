import { setTimeout as sleep } from 'node:timers/promises';
import { unstalled } from '../../support/unstalled.js';
import { waitFor } from '../../support/wait-for.js';

describe('The time of work without stalls', () => {
  it('includes the time in which the process waits', async () => {
    await waitFor(async () => (await unstalled(() => sleep(100))) > 60, {
      timeout: 20_000,
      that: 'a hundred milliseconds without a stall',
    });
  });

  it('excludes the time in which the process is blocked', async () => {
    const work = async (): Promise<void> => {
      await sleep(1);
      const until = performance.now() + 500;
      while (performance.now() < until);
    };
    expect(await unstalled(work)).toBeLessThan(250);
  });

  it('excludes the time in which the server does not answer', async () => {
    const answered = sleep(500);
    expect(
      await unstalled(
        () => answered,
        () => answered,
      ),
    ).toBeLessThan(250);
  });
});
