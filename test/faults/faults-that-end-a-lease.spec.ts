import { duringTests } from '../support/during-tests.js';
import { waitFor } from '../support/wait-for.js';
import { FaultScene, TTL } from './support/fault-scene.js';
import { expectHolderToLose, expectNoHarm, HeldScene } from './support/held-scene.js';
import { now } from './support/shared-clock.js';

describe('a fault that leaves Redis its data, but outlasts the lease (row 12)', () => {
  const scene = duringTests(() => FaultScene.start(3));
  let held: HeldScene;

  beforeAll(() => {
    held = new HeldScene(scene);
  });

  it('finds one clock for all processes', async () => {
    for (const { worker } of scene.contenders) {
      const before = now();
      const there = await worker.call('now');
      expect(there).toBeGreaterThanOrEqual(before);
      expect(there).toBeLessThanOrEqual(now());
    }
  });

  it.each<[name: string, fault: () => unknown, heal?: () => unknown]>([
    ['CLIENT PAUSE for longer than the lease', () => scene.admin.call('CLIENT', 'PAUSE', 1.5 * TTL, 'ALL')],
    [
      'Redis silent for longer than the lease',
      async () => {
        const frozenAt = now();
        scene.server.freeze();
        await waitFor(() => now() - frozenAt > 2 * TTL, { timeout: 4 * TTL });
        scene.server.thaw();
      },
    ],
    [
      'the network of the holder silent',
      () => held.holder.proxy.hold('both'),
      () => held.holder.proxy.pass(),
    ],
    [
      'the network of the holder dropping everything',
      () => held.holder.proxy.drop('both'),
      () => held.holder.proxy.pass(),
    ],
    ["the holder's event loop blocked beyond its lease", () => held.holder.worker.call('block', 2 * TTL)],
    [
      'SIGSTOP of the holder beyond its lease',
      async () => {
        held.holder.worker.freeze();
        await held.untilAnotherHolds();
        held.holder.worker.thaw();
      },
    ],
    // Not a parameter by itself: Jest would pass a callback where a row has none.
  ])('%s', async (...[, fault, heal]) => {
    await held.breakWhileHeld(fault);

    await expectHolderToLose(held, heal);
  });

  it('SIGSTOP of a waiter that is handed the lock meanwhile', async () => {
    await scene.open({ ttl: 2_400 });
    await held.holder.worker.call('hold', 'job');
    const [frozen, third] = [scene.contender(1), scene.contender(2)];
    const granted = frozen.worker.call('hold', 'job');
    await scene.untilWaiting('job', 1);
    const next = third.worker.call('hold', 'job');
    await scene.untilWaiting('job', 2);

    frozen.worker.freeze();
    await held.holder.worker.call('finish', 'job');
    const token = await next;
    frozen.worker.thaw();

    await scene.untilWaiting('job', 1);
    expect(await third.worker.call('look', 'job')).toMatchObject({ held: true });
    await third.worker.call('finish', 'job');
    expect(await granted).toBeGreaterThan(token);
    expect(await frozen.worker.call('finish', 'job')).toMatchObject({ code: undefined });
    await expectNoHarm(held, await scene.close());
  });
});
