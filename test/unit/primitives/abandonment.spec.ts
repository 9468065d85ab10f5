import { Abandonment, onAbort } from '../../../lib/primitives/abandonment.js';

describe('Abandonment that follows signals', () => {
  it.each([0, 1])('aborts with signal %d, once, and with its reason', (which) => {
    const sources = [new AbortController(), new AbortController()];
    const { signal } = new Abandonment(...sources.map((source) => source.signal));
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

  it('leaves nothing at its signals without listeners', () => {
    const lasting = new AbortController();
    const call = jest.fn();
    for (let i = 0; i < 3; i++)
      onAbort(new Abandonment(lasting.signal, new AbortController().signal).signal, call)();
    lasting.abort();

    expect(call).not.toHaveBeenCalled();
    const kept = Reflect.ownKeys(lasting.signal).map((key): unknown => Reflect.get(lasting.signal, key));
    expect(kept.filter((value) => (value as { size?: number } | undefined)?.size)).toEqual([]);
  });
});
