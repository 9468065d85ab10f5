import { Logger } from '@nestjs/common';
import type * as check from '../../../lib/nest/startup/shutdown-hooks-check.js';
import { createMemoryLockService } from '../../../lib/testing/lock-testing.module.js';
import { resolveModuleOptions } from '../../../lib/options/module-options.js';
import { MemoryLockServer } from '../../../lib/store/memory/memory-lock-server.js';

const WARNING = [expect.stringContaining('Add app.enableShutdownHooks() to main.ts'), 'RedisLock'];

describe('a process without a listener for SIGTERM', () => {
  const { NODE_ENV } = process.env;
  const locks = createMemoryLockService(resolveModuleOptions({}), new MemoryLockServer());
  let warn: jest.SpiedFunction<typeof Logger.warn>;

  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'performance'] });
    warn = jest.spyOn(Logger, 'warn').mockImplementation();
  });
  afterEach(() => {
    jest.useRealTimers();
    jest.restoreAllMocks();
    process.env.NODE_ENV = NODE_ENV;
  });
  afterAll(() => locks.close());

  /** A start of an application in a process of its own. */
  function start(environment: string, listeners: number): void {
    process.env.NODE_ENV = environment;
    delete process.env.KUBERNETES_SERVICE_HOST;
    jest.spyOn(process, 'listenerCount').mockReturnValue(listeners);
    jest.isolateModules(() => {
      jest.doMock('@nestjs/common', () => ({ Logger }));
      const { watchForShutdownHooks } =
        require('../../../lib/nest/startup/shutdown-hooks-check') as typeof check;
      watchForShutdownHooks();
      watchForShutdownHooks();
    });
  }

  async function lockOnce(): Promise<void> {
    await locks.using('a', () => {});
    jest.advanceTimersByTime(1_000);
  }

  it('is warned of once in production, after its first granted lock', async () => {
    start('production', 0);
    jest.advanceTimersByTime(10_000);
    expect(warn).not.toHaveBeenCalled();
    await lockOnce();
    await lockOnce();
    expect(warn.mock.calls).toEqual([WARNING]);
  });

  it('is not warned of in development', async () => {
    start('development', 0);
    await lockOnce();
    expect(warn).not.toHaveBeenCalled();
  });

  it('is not warned if it adds one within a second after its first granted lock', async () => {
    start('production', 0);
    await locks.using('a', () => {});
    jest.mocked(process.listenerCount).mockReturnValue(1);
    jest.advanceTimersByTime(1_000);
    expect(warn).not.toHaveBeenCalled();
  });
});
