import { EngineFixture } from '../engine/engine-fixture.js';
import type { ReusableLock } from '../../../lib/engine/hold/reentry.js';
import type { ResolvedLockOptions } from '../../../lib/options/lock-options.interface.js';
import { Once, type OnceSurroundings } from '../../../lib/service/once/once.js';
import type { MarkStore } from '../../../lib/store/mark.js';

describe('A run that cannot read the result of another run', () => {
  it('reports the outage, also if its caller leaves while the lock is released', async () => {
    const leaving = new AbortController();
    const lock = { release: async () => leaving.abort() } as unknown as ReusableLock;
    const read = jest.fn<Promise<undefined>, [string]>();
    read.mockResolvedValueOnce(undefined).mockRejectedValue(new Error('Connection is closed.'));
    const { engine } = new EngineFixture();
    jest.spyOn(engine, 'marksOf').mockReturnValue({ read } as unknown as MarkStore);
    const once = new Once({ engine, acquire: async () => lock } as unknown as OnceSurroundings);
    const options = { wait: Infinity, outageTimeout: 0, signal: leaving.signal } as ResolvedLockOptions;

    await expect(once.enter({ name: 'report', keep: 1_000, lock: options })).rejects.toMatchObject({
      code: 'LOCK_UNAVAILABLE',
      cause: { message: 'Connection is closed.' },
    });
    expect(read).toHaveBeenCalledTimes(2);
  });
});
