import { LockUnavailableError } from '../../../lib/errors/lock.error.js';
import { duringTests } from '../../support/during-tests.js';
import { steadily } from '../../support/steadily.js';
import { waitFor } from '../../support/wait-for.js';
import { ALL, MAJORITY, named, NODES, outagesOf, QuorumScene, SUBSETS } from './scene.js';

/** Long enough for a busy machine, far below the lease. */
const NODE_TIMEOUT = 250;
const OPTIONS = { ttl: 20_000, outageTimeout: 500, nodeTimeout: NODE_TIMEOUT } as const;

describe('a quorum of five (row 9)', () => {
  const scene = duringTests(() => QuorumScene.start(), 60_000);
  const instance = duringTests(() => scene.instance(OPTIONS));
  let tests = 0;

  beforeEach(() => void (tests += 1));

  describe.each(outagesOf(() => scene))('with nodes $fault', ({ fault, begin, end }) => {
    it.each(SUBSETS.map((subset) => ({ subset, which: named(subset) })))(
      'grants exactly when a majority is left: $which',
      async ({ subset }) => {
        const left = ALL.filter((node) => !subset.includes(node));
        let name = '';
        const judge = async (round: number): Promise<void> => {
          name = `${fault}:${tests}:${round}`;
          await Promise.all(subset.map(begin));
          try {
            if (left.length >= MAJORITY) await isGranted(name, left);
            else await isRefused(name, subset, left);
          } finally {
            await Promise.all(subset.map(end));
            await scene.isWhole(instance);
          }
        };
        await steadily(50, judge, () => scene.ping(left));

        // What was asked of the others meanwhile has reached them by now, and nothing of it stays.
        await waitFor(async () => (await scene.owners(name)).every((owner) => owner === null), {
          timeout: 20_000,
          that: 'every node to be free',
        });
      },
      60_000,
    );
  });

  async function isGranted(name: string, left: readonly number[]): Promise<void> {
    const lock = await instance.locks.acquire(name);

    expect(lock.held).toBe(true);
    expect(lock.remaining).toBeGreaterThan(OPTIONS.ttl / 2);
    await waitFor(
      async () => (await scene.owners(name, left)).every((owner) => owner?.startsWith(instance.name)),
      { that: 'all nodes that are left to keep the lock' },
    );
    await lock.extend();
    await lock.release();
    await waitFor(async () => (await scene.owners(name, left)).every((owner) => owner === null), {
      that: 'the nodes that are left to be free',
    });
  }

  async function isRefused(name: string, faulty: readonly number[], left: readonly number[]): Promise<void> {
    const error: unknown = await instance.locks.acquire(name).catch((reason: unknown) => reason);

    expect(error).toBeInstanceOf(LockUnavailableError);
    const { cause } = error as LockUnavailableError;
    expect(cause).toBeInstanceOf(AggregateError);
    const answers = (cause as AggregateError).errors.map((each) => (each as Error).message);
    expect(answers).toHaveLength(NODES);
    for (const [node, answer] of answers.entries()) {
      expect(answer).toContain(`127.0.0.1:${scene.node(node).proxy.port}`);
    }
    const granted = ALL.filter((node) => answers[node]?.includes('granted the lock, which was released'));
    expect(granted).toEqual(left);
    expect(faulty.length).toBeGreaterThanOrEqual(MAJORITY);
    await waitFor(async () => (await scene.owners(name, left)).every((owner) => owner === null), {
      that: 'the grants to be returned',
    });
  }
});
