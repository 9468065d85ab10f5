import { SuspendWatch } from '../../../lib/engine/hold/suspend-watch.js';
import { ManualClock, settle } from './manual-clock.js';

describe('The watch for a suspend', () => {
  it.each([
    ['holds exist', true, false, 1],
    ['no hold exists', false, false, 0],
    ['it has been stopped', true, true, 0],
  ])('reports it as often as it may matter: %s', async (_, isNeeded, isStopped, reports) => {
    const clock = new ManualClock();
    const wake = jest.fn();
    const watch = new SuspendWatch(clock, () => isNeeded, wake);
    if (isStopped) watch.stop();
    clock.sleep(60_000);
    clock.now();
    await settle();

    expect(wake).toHaveBeenCalledTimes(reports);
  });
});
