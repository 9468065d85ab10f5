import { duringTests } from '../support/during-tests.js';
import { waitFor } from '../support/wait-for.js';
import { expectExclusion } from './support/exclusion.js';
import { FaultScene } from './support/fault-scene.js';
import { MIXED_LIMITS, SEVERAL_PERMITS } from './support/terms.js';

/** Renewed every 2 s, and over no earlier than 4 s after a fault: so it shows which of the two found it out. */
const TTL = 6_000;
const NEXT_RENEWAL = 3_700;
/** Renewed only every 4 s: what is found out sooner was told. */
const LONG_TTL = 12_000;
const AT_ONCE = 3_500;
const KEY = 'lock:{job}';
const READ = { mode: 'shared' } as const;

describe('four processes that share names under random faults', () => {
  const scene = duringTests(() => FaultScene.start(4));

  it('continue correctly after Redis has lost its data', async () => {
    await expectExclusion(scene, 1_500, { takeData: true, terms: MIXED_LIMITS });
  });

  it('never hold more permits together than the limit, of several at once', async () => {
    await expectExclusion(scene, 1_500, { takeData: false, terms: SEVERAL_PERMITS });
  });
});

describe('two readers, and a waiting writer', () => {
  const scene = duringTests(() => FaultScene.start(3));

  it.each([
    ['with their next renewal after FLUSHALL', TTL, NEXT_RENEWAL, () => scene.admin.flushall()],
    ['with their next renewal after the key is deleted', TTL, NEXT_RENEWAL, () => scene.admin.del(KEY)],
    [
      'with their next renewal after the key of shared holds is deleted',
      TTL,
      NEXT_RENEWAL,
      () => scene.admin.del(`${KEY}:s`),
    ],
    ['at once by forceRelease', LONG_TTL, AT_ONCE, () => scene.operator.forceRelease('job')],
  ])('lose their holds %s', async (_, ttl, within, fault) => {
    await scene.open({ ttl });
    const readers = [scene.contender(0), scene.contender(1)];
    const tokens = await Promise.all(readers.map(({ worker }) => worker.call('hold', 'job', READ)));
    const writing = scene.contender(2).worker.call('hold', 'job');
    await scene.untilWaiting('job', 1);
    await scene.losing(fault);
    const lostFrom = scene.losses[0]?.to ?? Infinity;
    for (const { worker } of readers)
      await waitFor(async () => (await worker.call('look', 'job')).lostBecause, {
        that: 'a reader to be told',
      });

    expect(await writing).toBeGreaterThan(Math.max(...tokens));
    for (const { worker } of readers) {
      const { code, record } = await worker.call('finish', 'job');
      expect(code).toBe('LOCK_LOST');
      expect((record.abortedAt ?? Infinity) - lostFrom).toBeLessThan(within);
    }
    expect(await scene.contender(2).worker.call('finish', 'job')).toMatchObject({ code: undefined });
    expect((await scene.close()).problems).toEqual([]);
  });
});
