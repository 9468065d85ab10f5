import { extendScript } from '../../lib/store/scripts/extend.script.js';
import { duringTests } from '../support/during-tests.js';
import { waitFor } from '../support/wait-for.js';
import { FaultScene } from './support/fault-scene.js';
import { expectHolderToKeep, HeldScene } from './support/held-scene.js';
import { now } from './support/shared-clock.js';

/** Longer than the time in which a busy machine has no processor for the holder. */
const TTL = 2_400;

describe('a fault that leaves Redis its data, and the holder its lock', () => {
  const scene = duringTests(() => FaultScene.start(3));
  let held: HeldScene;

  beforeAll(() => {
    held = new HeldScene(scene);
  });

  const kill = (type: 'normal' | 'pubsub'): Promise<unknown> =>
    scene.admin.call('CLIENT', 'KILL', 'TYPE', type, 'SKIPME', 'yes');

  it.each<[string, () => unknown]>([
    ['SCRIPT FLUSH', () => scene.admin.script('FLUSH')],
    ['CLIENT KILL of every command connection', () => kill('normal')],
    ['CLIENT KILL of every inbox connection', () => kill('pubsub')],
    ['a reset of all connections', () => scene.contenders.forEach(({ proxy }) => proxy.reset())],
    ['the reply of a renewal lost', () => held.holder.proxy.loseNextReply(extendScript.sha)],
    [
      'the reply of an extension lost',
      async () => {
        const lost = held.holder.proxy.loseNextReply(extendScript.sha);
        const extended = await held.holder.worker.call('extend', 'job', TTL);
        await lost;
        expect(extended).toBeUndefined();
      },
    ],
    [
      'Redis silent for less than the lease',
      async () => {
        const frozenAt = now();
        scene.server.freeze();
        await waitFor(() => now() - frozenAt > TTL / 3);
        scene.server.thaw();
      },
    ],
  ])('%s', async (_, fault) => {
    await held.breakWhileHeld(fault, { ttl: TTL });

    await expectHolderToKeep(held, TTL);
  });

  it('a restart of Redis that keeps the data (row 12)', async () => {
    // So long a lease that it outlasts any restart; what matters comes at the reconnect and at the next renewal.
    await held.breakWhileHeld(() => scene.server.restart({ keepData: true }), { ttl: 9_000 });

    await expectHolderToKeep(held, 3_200);
  });
});
