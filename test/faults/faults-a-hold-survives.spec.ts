import { extendScript } from '../../lib/store/scripts/extend.script.js';
import { waitFor } from '../support/wait-for.js';
import { FaultScene, TTL } from './support/fault-scene.js';
import { expectHolderToKeep, HeldScene } from './support/held-scene.js';
import { now } from './support/shared-clock.js';

describe('a fault that leaves Redis its data, and the holder its lock', () => {
  let scene: FaultScene;
  let held: HeldScene;

  beforeAll(async () => {
    scene = await FaultScene.start(3);
    held = new HeldScene(scene);
  });
  afterAll(() => scene[Symbol.asyncDispose]());

  it('SCRIPT FLUSH', async () => {
    await held.breakWhileHeld(() => scene.admin.script('FLUSH'));

    await expectHolderToKeep(held);
  });

  it('CLIENT KILL of every command connection', async () => {
    await held.breakWhileHeld(() => kill('normal'));

    await expectHolderToKeep(held);
  });

  it('CLIENT KILL of every inbox connection', async () => {
    await held.breakWhileHeld(() => kill('pubsub'));

    await expectHolderToKeep(held);
  });

  it('a reset of all connections', async () => {
    await held.breakWhileHeld(() => scene.contenders.forEach(({ proxy }) => proxy.reset()));

    await expectHolderToKeep(held);
  });

  it('the reply of a renewal lost', async () => {
    await held.breakWhileHeld(() => held.holder.proxy.loseNextReply(extendScript.sha));

    await expectHolderToKeep(held);
  });

  it('the reply of an extension lost', async () => {
    await held.breakWhileHeld(async () => {
      const lost = held.holder.proxy.loseNextReply(extendScript.sha);
      const extended = await held.holder.worker.call('extend', 'job', TTL);
      await lost;
      expect(extended).toBeUndefined();
    });

    await expectHolderToKeep(held);
  });

  it('Redis silent for less than the lease', async () => {
    await held.breakWhileHeld(async () => {
      const frozenAt = now();
      scene.server.freeze();
      await waitFor(() => now() - frozenAt > TTL / 3);
      scene.server.thaw();
    });

    await expectHolderToKeep(held);
  });

  it('a restart of Redis that keeps the data (row 12)', async () => {
    // So long a lease that it outlasts any restart; what matters comes at the reconnect and at the next renewal.
    await held.breakWhileHeld(() => scene.server.restart({ keepData: true }), { ttl: 9_000 });

    await expectHolderToKeep(held, 3_200);
  });

  async function kill(type: 'normal' | 'pubsub'): Promise<void> {
    await scene.admin.call('CLIENT', 'KILL', 'TYPE', type, 'SKIPME', 'yes');
  }
});
