import type { Lock } from '../../../lib/engine/hold/lock.interface.js';
import type { LockService } from '../../../lib/service/lock.service.js';
import { blockEventLoop } from '../../support/block-event-loop.js';
import { duringTests } from '../../support/during-tests.js';
import { QuorumScene } from './scene.js';

const NODE_TIMEOUT = 200;
const TIMEOUT = 500;
/** Longer than both. */
const BLOCKED = 700;

describe('An event loop that is blocked right after a call', () => {
  const scene = duringTests(() => QuorumScene.start());
  const instance = duringTests(() => scene.instance({ nodeTimeout: NODE_TIMEOUT, outageTimeout: TIMEOUT }));

  it.each<[string, (locks: LockService) => Promise<Lock | undefined>]>([
    ['an exclusive lock', (locks) => locks.acquire('exclusive')],
    ['several names', (locks) => locks.acquire(['several:1', 'several:2'])],
    ['an attempt', (locks) => locks.tryAcquire('attempt')],
  ])('is no outage for %s', async (_, call) => {
    const acquiring = call(instance.locks);
    // What the engine asks for in this tick is not written before its end.
    for (let i = 0; i < 5; i++) await Promise.resolve();
    blockEventLoop(BLOCKED);
    await using lock = await acquiring;
    expect(lock?.held).toBe(true);
  });
});
