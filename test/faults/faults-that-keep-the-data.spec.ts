import { acquireScript } from '../../lib/scripts/acquire.script.js';
import { cancelScript } from '../../lib/scripts/cancel.script.js';
import { extendScript } from '../../lib/scripts/extend.script.js';
import { releaseScript } from '../../lib/scripts/release.script.js';
import { yieldScript } from '../../lib/scripts/yield.script.js';
import { waitFor } from '../support/wait-for.js';
import { FaultScene, TTL, type Contender, type SceneReport } from './support/fault-scene.js';
import { now } from './support/shared-clock.js';

const CALLERS = { callers: 2, names: ['job'], maxWork: 60, impatience: 0 } as const;

/** One process holds a name while its own callers and two other processes wait for it; then something breaks. */
describe('a fault that leaves Redis its data', () => {
  let scene: FaultScene;
  let holder: Contender;
  let seed = 0;

  beforeAll(async () => {
    scene = await FaultScene.start(3);
    holder = scene.contender(0);
  });
  afterAll(() => scene[Symbol.asyncDispose]());

  it('finds one clock for all processes', async () => {
    for (const { worker } of scene.contenders) {
      const before = now();
      const there = await worker.call('now');
      expect(there).toBeGreaterThanOrEqual(before);
      expect(there).toBeLessThanOrEqual(now());
    }
  });

  describe('and lets the holder keep its lock', () => {
    it('SCRIPT FLUSH', async () => {
      await breakWhileHeld(() => scene.admin.script('FLUSH'));

      await expectHolderToKeep();
    });

    it('CLIENT KILL of every command connection', async () => {
      await breakWhileHeld(() => kill('normal'));

      await expectHolderToKeep();
    });

    it('CLIENT KILL of every inbox connection', async () => {
      await breakWhileHeld(() => kill('pubsub'));

      await expectHolderToKeep();
    });

    it('a reset of all connections', async () => {
      await breakWhileHeld(() => scene.contenders.forEach(({ proxy }) => proxy.reset()));

      await expectHolderToKeep();
    });

    it('the reply of a renewal lost', async () => {
      await breakWhileHeld(() => holder.proxy.loseNextReply(extendScript.sha));

      await expectHolderToKeep();
    });

    it('the reply of an extension lost', async () => {
      await breakWhileHeld(async () => {
        const lost = holder.proxy.loseNextReply(extendScript.sha);
        const extended = await holder.worker.call('extend', 'job', TTL);
        await lost;
        expect(extended).toBeUndefined();
      });

      await expectHolderToKeep();
    });

    it('Redis silent for less than the lease', async () => {
      await breakWhileHeld(async () => {
        const frozenAt = now();
        scene.server.freeze();
        await waitFor(() => now() - frozenAt > TTL / 3);
        scene.server.thaw();
      });

      await expectHolderToKeep();
    });

    it('a restart of Redis that keeps the data', async () => {
      // So long a lease that it outlasts any restart.
      await breakWhileHeld(() => scene.server.restart({ keepData: true }), { ttl: 3_000 });

      await expectHolderToKeep(3_000);
    });
  });

  describe('and ends the lease of the holder', () => {
    it('CLIENT PAUSE for longer than the lease', async () => {
      await breakWhileHeld(() => scene.admin.call('CLIENT', 'PAUSE', 1.5 * TTL, 'ALL'));

      await expectHolderToLose();
    });

    it('Redis silent for 5 s', async () => {
      await breakWhileHeld(async () => {
        const frozenAt = now();
        scene.server.freeze();
        await waitFor(() => now() - frozenAt > 5_000, { timeout: 6_000 });
        scene.server.thaw();
      });

      await expectHolderToLose();
    });

    it('the network of the holder silent', async () => {
      await breakWhileHeld(() => holder.proxy.hold('both'));

      await expectHolderToLose(() => holder.proxy.pass());
    });

    it('the network of the holder swallowing everything', async () => {
      await breakWhileHeld(() => holder.proxy.drop('both'));

      await expectHolderToLose(() => holder.proxy.pass());
    });

    it("the holder's event loop blocked beyond its lease", async () => {
      await breakWhileHeld(() => holder.worker.call('block', 2 * TTL));

      await expectHolderToLose();
    });

    it('SIGSTOP of the holder beyond its lease', async () => {
      await breakWhileHeld(async () => {
        holder.worker.freeze();
        await untilAnotherHolds();
        holder.worker.thaw();
      });

      await expectHolderToLose();
    });
  });

  it('SIGSTOP of a waiter that is handed the lock meanwhile', async () => {
    await scene.open();
    await holder.worker.call('hold', 'job');
    const [frozen, third] = [scene.contender(1), scene.contender(2)];
    const granted = frozen.worker.call('hold', 'job');
    await scene.untilWaiting('job', 1);
    const next = third.worker.call('hold', 'job');
    await scene.untilWaiting('job', 2);

    frozen.worker.freeze();
    await holder.worker.call('finish', 'job');
    const token = await next;
    frozen.worker.thaw();

    await scene.untilWaiting('job', 1);
    expect(await third.worker.call('look', 'job')).toMatchObject({ held: true });
    await third.worker.call('finish', 'job');
    expect(await granted).toBeGreaterThan(token);
    expect(await frozen.worker.call('finish', 'job')).toMatchObject({ code: undefined });
    await expectNoHarm(await scene.close());
  });

  it.each([
    ['acquire', acquireScript.sha],
    ['release', releaseScript.sha],
    ['yield', yieldScript.sha],
  ])('the reply of %s lost, again and again, costs nobody a turn', async (_name, sha) => {
    // A lease so long that nobody could wait for the end of one that got lost.
    await scene.open({ ttl: 20_000 });
    // Two callers here, so that turns end with a yield; and one name that is free between two holds.
    await rush(['job', 'free']);
    for (let i = 0; i < 5; i++) {
      await holder.proxy.loseNextReply(sha);
      await scene.untilEveryoneHeld(2, 5_000);
    }

    await expectNoHarm(await scene.close());
  });

  it('the reply of a cancelled wait lost leaves no trace', async () => {
    await scene.open();
    await holder.worker.call('hold', 'job');
    const { worker, proxy } = scene.contender(1);
    const lost = proxy.loseNextReply(cancelScript.sha);
    await worker.call('rush', { ...CALLERS, callers: 1, seed: 1, impatience: 1 });
    await lost;
    await holder.worker.call('finish', 'job');

    await expectNoHarm(await scene.close());
  });

  /** The first process holds `job`, everybody waits for it, then comes the fault. */
  async function breakWhileHeld(fault: () => unknown, options: { ttl?: number } = {}): Promise<void> {
    await scene.open(options);
    await holder.worker.call('hold', 'job');
    await rush(['job']);
    await scene.untilWaiting('job', 2);
    await fault();
  }

  async function rush(names: readonly [string, ...string[]]): Promise<void> {
    await scene.everyone(({ worker }) => worker.call('rush', { ...CALLERS, names, seed: ++seed }));
  }

  async function expectHolderToKeep(ttl: number = TTL): Promise<void> {
    const brokenAt = now();
    await waitFor(
      async () => {
        expect(await holder.worker.call('look', 'job')).toMatchObject({ held: true, aborted: false });
        return now() - brokenAt > ttl;
      },
      { timeout: ttl + 1_000, interval: 50, that: 'the holder to outlast its lease' },
    );
    // Everybody has found back into the queue, and is handed the lock from there.
    await scene.untilWaiting('job', 2);
    expect(await holder.worker.call('finish', 'job')).toMatchObject({ code: undefined });
    await scene.untilEveryoneHeld(3);

    await expectNoHarm(await scene.close());
  }

  async function expectHolderToLose(heal: () => unknown = () => undefined): Promise<void> {
    await untilAnotherHolds();
    await heal();
    await waitFor(async () => (await holder.worker.call('look', 'job')).aborted, {
      that: "the old holder's signal to abort",
    });
    const { code, record } = await holder.worker.call('finish', 'job');
    await scene.untilEveryoneHeld(3);

    const report = await scene.close();
    expect(code).toBe('LOCK_LOST');
    expect(record.abortedAt).toBeDefined();
    await expectNoHarm(report);
  }

  async function untilAnotherHolds(): Promise<void> {
    await waitFor(
      async () => {
        const others = await Promise.all([1, 2].map((i) => scene.contender(i).worker.call('progress')));
        return others.some((holds) => holds > 0);
      },
      { timeout: 8_000, interval: 20, that: 'another process to hold the lock' },
    );
  }

  async function expectNoHarm({ problems, refused }: SceneReport): Promise<void> {
    expect(problems).toEqual([]);
    expect(refused).toEqual([]);
    await waitFor(async () => (await scene.admin.keys('*')).join() === 'lock:fence', {
      that: 'everything to be released',
    });
  }

  async function kill(type: 'normal' | 'pubsub'): Promise<void> {
    await scene.admin.call('CLIENT', 'KILL', 'TYPE', type, 'SKIPME', 'yes');
  }
});
