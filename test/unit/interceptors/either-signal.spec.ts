import { onAbort } from '../../../lib/engine/on-abort.js';
import { EitherSignal } from '../../../lib/interceptors/either-signal.js';

describe('EitherSignal', () => {
  it.each([0, 1])('aborts with signal %d, once, and with its reason', (which) => {
    const sources = [new AbortController(), new AbortController()];
    const { signal } = new EitherSignal(sources.map((source) => source.signal));
    const call = jest.fn();
    const unhook = onAbort(signal, call);
    expect(signal.aborted).toBe(false);
    signal.throwIfAborted();
    const reason = new Error('enough');
    sources[which]?.abort(reason);

    expect(call).toHaveBeenCalledTimes(1);
    expect(signal.aborted).toBe(true);
    expect(signal.reason).toBe(reason);
    expect(() => signal.throwIfAborted()).toThrow(reason);
    unhook();
  });

  it('leaves nothing at its signals when nobody listens any more', () => {
    const lasting = new AbortController();
    const call = jest.fn();
    for (let i = 0; i < 3; i++)
      onAbort(new EitherSignal([lasting.signal, new AbortController().signal]).signal, call)();
    lasting.abort();

    expect(call).not.toHaveBeenCalled();
    const kept = Reflect.ownKeys(lasting.signal).map((key): unknown => Reflect.get(lasting.signal, key));
    expect(kept.filter((value) => (value as { size?: number } | undefined)?.size)).toEqual([]);
  });
});
