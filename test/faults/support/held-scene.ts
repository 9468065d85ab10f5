import { waitFor } from '../../support/wait-for.js';
import type { Terms } from './contender.worker.js';
import { type Contender, type FaultScene, type SceneReport, TTL } from './fault-scene.js';
import { now } from './shared-clock.js';

const NAME = 'job';
const CALLERS = { callers: 2, maxWork: 60, impatience: 0 } as const;

/** One process holds a name while its own callers and two other processes wait for it; then something breaks. */
export class HeldScene {
  readonly holder: Contender;
  private seed = 0;

  constructor(readonly scene: FaultScene) {
    this.holder = scene.contender(0);
  }

  /** Lets the first process hold the name until every process waits for it, and brings the fault about. */
  async breakWhileHeld(fault: () => unknown, options: { ttl?: number } = {}): Promise<void> {
    await this.scene.open(options);
    await this.holder.worker.call('hold', NAME);
    await this.rush([NAME]);
    await this.scene.untilWaiting(NAME, 2);
    await fault();
  }

  /** Starts callers in every process, who want the lock alone or by one of the given terms. */
  async rush(
    names: readonly [string, ...string[]],
    terms: readonly [Terms, ...Terms[]] = [{}],
  ): Promise<void> {
    await this.scene.everyone(({ worker }) =>
      worker.call('rush', { ...CALLERS, names, seed: ++this.seed, terms }),
    );
  }

  async untilAnotherHolds(): Promise<void> {
    await waitFor(
      async () => {
        const others = await Promise.all([1, 2].map((i) => this.scene.contender(i).worker.call('progress')));
        return others.some((holds) => holds > 0);
      },
      { timeout: 8_000, interval: 20, that: 'another process to hold the lock' },
    );
  }
}

/** The holder keeps its lock for so many milliseconds, by default a lease, gives its lock up, and everybody gets turns. */
export async function expectHolderToKeep(held: HeldScene, time: number = TTL): Promise<void> {
  const brokenAt = now();
  await waitFor(
    async () => {
      expect(await held.holder.worker.call('look', NAME)).toMatchObject({
        held: true,
        lostBecause: undefined,
      });
      return now() - brokenAt > time;
    },
    { timeout: time + 1_000, interval: 50, that: 'the holder to keep its lock' },
  );
  // Everybody has found back into the queue, and is handed the lock from there.
  await held.scene.untilWaiting(NAME, 2);
  expect(await held.holder.worker.call('finish', NAME)).toMatchObject({ code: undefined });
  await held.scene.untilEveryoneHeld(3);

  await expectNoHarm(held, await held.scene.close());
}

/** The lock goes on to somebody else, the holder is told, and everybody gets turns once `heal` has mended what broke. */
export async function expectHolderToLose(
  held: HeldScene,
  heal: () => unknown = () => undefined,
): Promise<void> {
  await held.untilAnotherHolds();
  await heal();
  await waitFor(async () => (await held.holder.worker.call('look', NAME)).lostBecause, {
    that: "the old holder's signal to abort",
  });
  const { code, record } = await held.holder.worker.call('finish', NAME);
  await held.scene.untilEveryoneHeld(3);

  const report = await held.scene.close();
  expect(code).toBe('LOCK_LOST');
  expect(record.abortedAt).toBeDefined();
  await expectNoHarm(held, report);
}

/** Nothing went wrong for any caller, and nothing is left in Redis. */
export async function expectNoHarm({ scene }: HeldScene, { problems, refused }: SceneReport): Promise<void> {
  expect(problems).toEqual([]);
  expect(refused).toEqual([]);
  await waitFor(async () => (await scene.admin.keys('*')).join() === 'lock:fence', {
    that: 'everything to be released',
  });
}
