import { duringTests } from '../support/during-tests.js';
import { waitFor } from '../support/wait-for.js';
import { FaultScene } from './support/fault-scene.js';
import { expectHolderToLose, HeldScene } from './support/held-scene.js';
import { now } from './support/shared-clock.js';

describe('a fault that leaves Redis its data, but outlasts the lease by far', () => {
  const scene = duringTests(() => FaultScene.start(3));

  it('Redis silent for 5 s', async () => {
    const held = new HeldScene(scene);
    await held.breakWhileHeld(async () => {
      const frozenAt = now();
      scene.server.freeze();
      await waitFor(() => now() - frozenAt > 5_000, { timeout: 10_000 });
      scene.server.thaw();
    });

    await expectHolderToLose(held);
  });
});
