import { transferScript } from '../../lib/store/scripts/transfer.script.js';
import { duringTests } from '../support/during-tests.js';
import { waitFor } from '../support/wait-for.js';
import { FaultScene } from './support/fault-scene.js';

/** Lease of a hold that a busy machine must not end. */
const AMPLE = 5_000;

describe('a hold that goes from one process to another', () => {
  const scene = duringTests(() => FaultScene.start(3));

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
    await lonely.open({ ttl: AMPLE });
    const [first, second] = [lonely.contender(0), lonely.contender(1)];
    await first.worker.call('acquirePassed', 'h', 'job');
    const detached = await first.worker.call('detachPassed', 'h');
    await first.worker.kill();
    if ('code' in detached) throw new Error(detached.code);

    expect(await second.worker.call('attachPassed', 'h', 'job', detached.result)).toHaveProperty('result');
    await second.worker.call('releasePassed', 'h');
    await waitFor(async () => (await lonely.admin.keys('*')).join() === 'lock:fence');
  });

  it('passes to the next waiter if it is not attached in time', async () => {
    await scene.open({ ttl: AMPLE });
    const [first, second] = [scene.contender(0).worker, scene.contender(1).worker];
    await first.call('acquirePassed', 'h', 'job');
    const transfer = await detach(0);
    const waiting = second.call('acquirePassed', 'next', 'job');
    expect(await waiting).toHaveProperty('result');

    expect(await first.call('attachPassed', 'h', 'job', transfer)).toEqual({ code: 'LOCK_LOST' });
    await expectOne();
  });

  it.each(['detach', 'attach'] as const)('does not depend on the reply to its %s', async (step) => {
    await scene.open({ ttl: AMPLE });
    const [first, second] = [scene.contender(0), scene.contender(1)];
    await first.worker.call('acquirePassed', 'h', 'job');
    const losing = (step === 'detach' ? first : second).proxy.loseNextReply(transferScript.sha);
    const transfer = await detach(0);
    const taken = await second.worker.call('attachPassed', 'h', 'job', transfer);
    await losing;

    expect(taken).toHaveProperty('result');
    expect(await first.worker.call('attachPassed', 'again', 'job', transfer)).toEqual({ code: 'LOCK_LOST' });
    await expectOne();
  });

  it('is lost for an attaching process that is stopped for longer than the lease, which detects it at once', async () => {
    await scene.open({ ttl: AMPLE });
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

  it('continues if the network is silent for less than the lease', async () => {
    const ttl = 2_400;
    await scene.open({ ttl });
    const [first, second] = [scene.contender(0), scene.contender(1)];
    await first.worker.call('acquirePassed', 'h', 'job');
    await second.worker.call('attachPassed', 'h', 'job', await detach(0));
    second.proxy.hold('both');
    await new Promise((resolve) => void setTimeout(resolve, ttl / 4));
    second.proxy.pass();

    await detach(1);
    await expectOne();
  });
});
