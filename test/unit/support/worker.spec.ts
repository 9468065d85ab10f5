import { join } from 'node:path';
import { waitFor } from '../../support/wait-for.js';
import { startWorker, type Worker } from '../../support/worker.js';
import type { GreetingCalls } from './fixtures/greeting.worker.js';

describe('startWorker', () => {
  const file = join(__dirname, 'fixtures/greeting.worker.ts');
  let worker: Worker<GreetingCalls>;

  const start = async () => {
    worker = await startWorker<GreetingCalls>(file, ['--loud'], { env: { GREETING: 'hi' } });
  };

  describe('that goes on', () => {
    beforeAll(start);
    afterAll(() => worker.kill());

    it('runs TypeScript with Nest in another process', async () => {
      expect(await worker.call('welcome', 'Ada')).toBe('hello Ada');
      expect(worker.pid).not.toBe(process.pid);
    });

    it('hands over arguments and environment', async () => {
      expect(await worker.call('argumentsAndEnvironment')).toEqual([['--loud'], 'hi']);
    });

    it('hands over what JSON cannot', async () => {
      const value = { when: new Date(0), big: 1n, none: undefined, several: new Set([1]) };

      expect(await worker.call('same', value)).toEqual(value);
    });

    it('rejects with what the call threw', async () => {
      await expect(worker.call('refuse')).rejects.toMatchObject({
        name: 'RefusalError',
        message: 'not today',
        code: 'REFUSED',
      });
    });

    it('stands still while frozen and goes on once thawed', async () => {
      await worker.call('tick');
      await waitFor(() => worker.messages.length > 2, { that: 'the worker to tick' });

      worker.freeze();
      let answered = false;
      const answer = worker.call('same', 1).finally(() => (answered = true));
      // What was on its way before the freeze has arrived when a timer as slow as several ticks has fired.
      const before = await settled(worker.messages);
      await settled(worker.messages);
      expect(worker.messages).toHaveLength(before);
      expect(answered).toBe(false);

      worker.thaw();
      expect(await answer).toBe(1);
      await waitFor(() => worker.messages.length > before, { that: 'the worker to tick again' });
    });
  });

  describe('that ends', () => {
    beforeEach(start);
    afterEach(() => worker.kill());

    it('rejects calls under way when the worker is killed', async () => {
      worker.freeze();
      const failure = worker.call('same', 1).catch((error: Error) => error.message);

      await worker.kill();

      expect(await failure).toContain('SIGKILL');
      expect(await worker.exited).toEqual({ code: null, signal: 'SIGKILL' });
      await expect(worker.call('same', 1)).rejects.toThrow();
    });

    it('tells the exit code', async () => {
      await expect(worker.call('exit', 3)).rejects.toThrow('exit code 3');

      expect(await worker.exited).toEqual({ code: 3, signal: null });
      expect(worker.running).toBe(false);
    });
  });

  it('says why a worker did not start', async () => {
    const broken = startWorker(join(__dirname, 'fixtures/broken.worker.ts'));

    await expect(broken).rejects.toThrow(/This worker cannot start/);
  });
});

/** Waits until a list has not grown for a while, and gives its length. */
async function settled(list: readonly unknown[]): Promise<number> {
  let length = -1;
  let since = performance.now();
  await waitFor(() => {
    if (list.length !== length) {
      length = list.length;
      since = performance.now();
    }
    return performance.now() - since > 60;
  });
  return length;
}
