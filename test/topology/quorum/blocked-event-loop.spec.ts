import type { Lock } from '../../../lib/engine/hold/lock.interface.js';
import type { LockService } from '../../../lib/service/lock.service.js';
import { blockEventLoop } from '../../support/block-event-loop.js';
import { duringTests } from '../../support/during-tests.js';
import { steadily } from '../../support/steadily.js';
import { QuorumScene } from './scene.js';

const NODE_TIMEOUT = 200;
const TIMEOUT = 500;
/** Longer than both. */
const BLOCKED = 700;

describe('An event loop that is blocked right after a call', () => {
  const scene = duringTests(() => QuorumScene.start());
  const instance = duringTests(() => scene.instance({ nodeTimeout: NODE_TIMEOUT, outageTimeout: TIMEOUT }));

  it.each<[string, (locks: LockService, name: string) => Promise<Lock | undefined>]>([
    ['an exclusive lock', (locks, name) => locks.acquire(name)],
    ['several names', (locks, name) => locks.acquire([`${name}:1`, `${name}:2`])],
    ['an attempt', (locks, name) => locks.tryAcquire(name)],
  ])('is no outage for %s', async (kind, call) => {
    const acquire = async (round: number): Promise<void> => {
      // After a round in which nodes stood still, they are connected to again.
      await scene.isWhole(instance);
      const acquiring = call(instance.locks, `${kind}:${round}`);
      // What the engine asks for in this tick is not written before its end.
      for (let i = 0; i < 5; i++) await Promise.resolve();
      blockEventLoop(BLOCKED);
      await using lock = await acquiring;
      expect(lock?.held).toBe(true);
    };
    // It counts as a stall of the machine, too.
    await steadily(BLOCKED + 50, acquire, () => scene.ping());
  });
});
