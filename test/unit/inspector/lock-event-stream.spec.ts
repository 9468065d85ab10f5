import { Writable } from 'node:stream';
import { LockEventStream } from '../../../lib/inspector/lock-event-stream.js';

describe('LockEventStream', () => {
  afterEach(() => jest.useRealTimers());

  it('writes nothing after its end to a client that has not read everything', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask'] });
    const stream = new LockEventStream();
    const failed = jest.fn();
    stream.on('error', failed);
    stream.pipe(new Writable({ highWaterMark: 1, write: () => {} }));
    const tell = async (name: string): Promise<void> => {
      stream.publish('nest-redis-lock:queue:length', { name, length: 1 });
      await jest.advanceTimersByTimeAsync(1_000);
    };

    await tell('before');
    stream.end();
    await tell('after');

    expect(failed).not.toHaveBeenCalled();
    expect(String(stream.read())).toContain('before');
    stream.destroy();
  });
});
