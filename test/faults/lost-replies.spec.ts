import { acquireScript } from '../../lib/store/scripts/acquire.script.js';
import { acquireSharedScript } from '../../lib/store/scripts/acquire-shared.script.js';
import { cancelScript } from '../../lib/store/scripts/cancel.script.js';
import { releaseScript } from '../../lib/store/scripts/release.script.js';
import { releaseByOwnerScript } from '../../lib/store/scripts/release-by-owner.script.js';
import { yieldScript } from '../../lib/store/scripts/yield.script.js';
import { duringTests } from '../support/during-tests.js';
import { FaultScene } from './support/fault-scene.js';
import { expectNoHarm, HeldScene } from './support/held-scene.js';

/** A lease so long that nobody could wait for the end of one that got lost. */
const TTL = 30_000;
/** Far below it, for a busy machine. */
const SOON = 15_000;

describe('repeatedly lost replies', () => {
  const scene = duringTests(() => FaultScene.start(3));
  let held: HeldScene;

  beforeAll(() => void (held = new HeldScene(scene)));

  it.each([
    ['acquire', acquireScript.sha],
    ['release', releaseScript.sha],
    ['yield', yieldScript.sha],
  ])('a repeatedly lost reply of %s costs no turn', async (_name, sha) => {
    await scene.open({ ttl: TTL });
    // Two callers here, so that turns end with a yield; and one name that is free between two holds.
    await held.rush(['job', 'free']);
    for (let i = 0; i < 5; i++) {
      await held.holder.proxy.loseNextReply(sha);
      await scene.untilEveryoneHeld(2, SOON);
    }

    await expectNoHarm(held, await scene.close());
  });

  it.each([
    ['acquire-shared', acquireSharedScript.sha],
    ['release-by-owner', releaseByOwnerScript.sha],
  ])('a repeatedly lost reply of %s costs no turn and no permit', async (_name, sha) => {
    // A permit kept by nobody would be missed for the whole of the lease.
    await scene.open({ ttl: TTL });
    await held.rush(['job', 'free'], [{ mode: 'shared', limit: 2 }, { mode: 'shared', limit: 1 }, {}]);
    for (let i = 0; i < 5; i++) {
      await held.holder.proxy.loseNextReply(sha);
      await scene.untilEveryoneHeld(2, SOON);
    }

    await expectNoHarm(held, await scene.close());
  });

  it('a lost reply of a cancelled wait leaves nothing in Redis', async () => {
    await scene.open();
    await held.holder.worker.call('hold', 'job');
    const { worker, proxy } = scene.contender(1);
    const lost = proxy.loseNextReply(cancelScript.sha);
    await worker.call('rush', { callers: 1, names: ['job'], seed: 1, maxWork: 60, impatience: 1 });
    await lost;
    await held.holder.worker.call('finish', 'job');

    await expectNoHarm(held, await scene.close());
  });
});
