import { LockLostError } from '../../../lib/errors/lock-lost.error.js';
import { createLockService } from '../../../lib/nest/module/lock-module.definition.js';
import { resolveModuleOptions } from '../../../lib/options/module-options.js';
import { aborted, turn } from '../../contract/observe.js';

describe('A hold that is lost while a nested call runs', () => {
  it.each(['after', 'before'])(
    'does not wait for the nested call if its own work ends %s the loss',
    async (when) => {
      const locks = createLockService(resolveModuleOptions({ connection: 'memory' }));
      let enter = (): void => undefined;
      const entered = new Promise<void>((resolve) => (enter = resolve));
      let endWork = (): void => undefined;
      const nestedWork = new Promise<void>((resolve) => (endWork = resolve));
      let nested: Promise<void> | undefined;
      const outer = locks.using('n', async ({ signal }) => {
        nested = locks.using('n', () => {
          enter();
          return nestedWork;
        });
        await entered;
        if (when === 'before') return;
        await locks.forceRelease('n');
        await aborted(signal);
      });

      if (when === 'before') {
        await entered;
        // The outer hold is being released by then, and waits for the nested call.
        await turn();
        await locks.forceRelease('n');
      }
      await expect(outer).rejects.toThrow(LockLostError);
      endWork();
      await expect(nested).rejects.toThrow(LockLostError);
    },
  );
});
