import { FailoverScene } from '../support/failover-scene.js';
import { duringEachTest } from '../../support/during-tests.js';

/** Longer than the failover, so that nobody is refused meanwhile. */
const TIMEOUT = 90_000;
const TTL = 2_000;

/** 100 callers in 4 processes, and the master is killed. */
describe('100 callers whose master is killed', () => {
  jest.setTimeout(240_000);

  const scene = duringEachTest(() => FailoverScene.start(4));

  it('continue by themselves after the failover, with growing tokens', async () => {
    const options = { ttl: TTL, wait: TIMEOUT, outageTimeout: TIMEOUT, commandTimeout: 500 };
    await scene.rush(25, options);
    await scene.untilEveryoneHeld(25);

    const loss = await scene.failOver();

    await scene.untilEveryoneHeld(25);
    const { holds, problems, refused } = await scene.close([loss]);
    expect({ problems, refused }).toEqual({ problems: [], refused: [] });
    // The work of the processes did span the failover.
    expect(holds.some(({ begin }) => begin < loss.from)).toBe(true);
    expect(holds.some(({ begin }) => begin > loss.to)).toBe(true);
  });

  it('keep every lock that a replica had, with replicas: { min: 1 }', async () => {
    // A holder that is cut off from its replicas for longer than this gives up, so it is longer than the failover.
    const ttl = TIMEOUT;
    const replicas = { min: 1, timeout: TIMEOUT };
    const options = { ttl, replicas, wait: TIMEOUT, outageTimeout: TIMEOUT, commandTimeout: 500 };
    await scene.rush(25, options);
    await scene.untilEveryoneHeld(25);

    const { from, to } = await scene.failOver();

    await scene.untilEveryoneHeld(25);
    // No loss is excused here.
    const { holds, problems, refused, overlaps } = await scene.close([]);
    expect({ problems, refused, overlaps }).toEqual({ problems: [], refused: [], overlaps: [] });
    const across = holds.filter(({ begin, end }) => begin < from && (end ?? Infinity) > from);
    expect(across.filter(({ outcome }) => outcome === 'lost')).toEqual([]);
    expect(holds.some(({ begin }) => begin > to)).toBe(true);
  });
});
