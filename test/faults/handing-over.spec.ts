import { randomInt } from 'node:crypto';
import { handOverScript } from '../../lib/scripts/hand-over.script.js';
import { waitFor } from '../support/wait-for.js';
import { FaultScene, TTL } from './support/fault-scene.js';
import { breakAtRandom } from './support/random-faults.js';
import { runRelay } from './support/relay.js';
import { SeededRandom } from './support/seeded-random.js';

describe('a hold that goes from one process to another', () => {
  let scene: FaultScene;

  beforeAll(async () => {
    scene = await FaultScene.start(3);
  });
  afterAll(() => scene[Symbol.asyncDispose]());

  const detach = async (process: number, id = 'h'): Promise<string> => {
    const outcome = await scene.contender(process).worker.call('detachPassed', id);
    if ('code' in outcome) throw new Error(outcome.code);
    return outcome.result;
  };
  const expectOne = async (): Promise<void> => {
    const { problems } = await scene.close();
    expect(problems).toEqual([]);
    await waitFor(async () => (await scene.admin.keys('*')).join() === 'lock:fence', {
      that: 'everything to be released',
    });
  };

  it('survives its old process, which is killed', async () => {
    await using lonely = await FaultScene.start(2);
    await lonely.open();
    const [first, second] = [lonely.contender(0), lonely.contender(1)];
    await first.worker.call('acquirePassed', 'h', 'job');
    const detached = await first.worker.call('detachPassed', 'h');
    await first.worker.kill();
    if ('code' in detached) throw new Error(detached.code);

    expect(await second.worker.call('attachPassed', 'h', 'job', detached.result)).toHaveProperty('result');
    await second.worker.call('releasePassed', 'h');
    await waitFor(async () => (await lonely.admin.keys('*')).join() === 'lock:fence');
  });

  it('is the next waiter’s when nobody takes it in time', async () => {
    await scene.open();
    const [first, second] = [scene.contender(0).worker, scene.contender(1).worker];
    await first.call('acquirePassed', 'h', 'job');
    const handover = await detach(0);
    const waiting = second.call('acquirePassed', 'next', 'job');
    expect(await waiting).toHaveProperty('result');

    expect(await first.call('attachPassed', 'h', 'job', handover)).toEqual({ code: 'LOCK_LOST' });
    await expectOne();
  });

  it.each(['detach', 'attach'] as const)('does not depend on the reply to its %s', async (step) => {
    await scene.open();
    const [first, second] = [scene.contender(0), scene.contender(1)];
    await first.worker.call('acquirePassed', 'h', 'job');
    const losing = (step === 'detach' ? first : second).proxy.loseNextReply(handOverScript.sha);
    const handover = await detach(0);
    const taken = await second.worker.call('attachPassed', 'h', 'job', handover);
    await losing;

    expect(taken).toHaveProperty('result');
    expect(await first.worker.call('attachPassed', 'again', 'job', handover)).toEqual({ code: 'LOCK_LOST' });
    await expectOne();
  });

  it('is lost to a taker that is stopped for longer than the lease, and knows it at once', async () => {
    await scene.open();
    const [first, second, third] = [
      scene.contender(0).worker,
      scene.contender(1).worker,
      scene.contender(2).worker,
    ];
    await first.call('acquirePassed', 'h', 'job');
    await second.call('attachPassed', 'h', 'job', await detach(0));
    second.freeze();
    expect(await third.call('acquirePassed', 'next', 'job')).toHaveProperty('result');
    second.thaw();

    expect(await second.call('detachPassed', 'h')).toEqual({ code: 'LOCK_LOST' });
    await expectOne();
  });

  it('goes on where the network is silent for less than the lease', async () => {
    await scene.open();
    const [first, second] = [scene.contender(0), scene.contender(1)];
    await first.worker.call('acquirePassed', 'h', 'job');
    await second.worker.call('attachPassed', 'h', 'job', await detach(0));
    second.proxy.hold('both');
    await new Promise((resolve) => void setTimeout(resolve, TTL / 4));
    second.proxy.pass();

    await detach(1);
    await expectOne();
  });

  it('has one holder at a time under random faults, and is never taken twice', async () => {
    const seed = Number(process.env['FAULT_SEED'] ?? randomInt(2 ** 31));
    await scene.open({ ttl: 400, commandTimeout: 150, outageTimeout: 2_000, wait: 4_000 });
    const names = ['red', 'green'] as const;
    await scene.everyone(({ worker }, i) =>
      worker.call('rush', { callers: 1, names, seed: seed + i, maxWork: 60, impatience: 0 }),
    );
    const stop = new AbortController();
    const relays = [0, 1, 2, 3].map((runner) =>
      runRelay(scene, runner, {
        name: names[runner % 2] ?? 'red',
        random: new SeededRandom(seed * 10 + runner),
        stop: stop.signal,
      }),
    );
    const faults = await breakAtRandom(scene, new SeededRandom(seed), 6_000, { names, takeData: false });
    stop.abort();
    const reports = await Promise.all(relays);
    const { problems } = await scene.close();

    expect({ seed, faults, problems: [...problems, ...reports.flatMap((each) => each.problems)] }).toEqual({
      seed,
      faults,
      problems: [],
    });
    expect(reports.reduce((sum, { hops }) => sum + hops, 0)).toBeGreaterThan(3);
  });
});
