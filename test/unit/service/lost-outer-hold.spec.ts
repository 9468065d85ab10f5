import { LockLostError } from '../../../lib/errors/lock-lost.error.js';
import { createLockService } from '../../../lib/lock-service.factory.js';
import { resolveModuleOptions } from '../../../lib/options/module-options.js';
import { aborted } from '../../contract/observe.js';

describe('A hold that is lost while a nested call runs', () => {
  it('ends with its own work, and does not wait for the nested call', async () => {
    const locks = createLockService(resolveModuleOptions({ connection: 'memory' }));
    let endWork = (): void => undefined;
    const nestedWork = new Promise<void>((resolve) => (endWork = resolve));
    let nested: Promise<void> | undefined;
    const outer = locks.using('n', async ({ signal }) => {
      nested = locks.using('n', () => nestedWork);
      await locks.forceRelease('n');
      await aborted(signal);
    });

    await expect(outer).rejects.toThrow(LockLostError);
    endWork();
    await expect(nested).rejects.toThrow(LockLostError);
  });
});
