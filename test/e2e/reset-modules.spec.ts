import { type DynamicModule, Injectable } from '@nestjs/common';
import { Locked, LockService, LockTimeoutError, RedisLockModule } from '../../lib/index.js';
import { LockTestingModule } from '../../lib/testing/index.js';
import { duringEachTest } from '../support/during-tests.js';
import { startModule } from './support/start-module.js';

@Injectable()
class Jobs {
  @Locked('job', { wait: 100 })
  async outer(): Promise<string> {
    return this.inner();
  }

  @Locked('job', { wait: 100 })
  async inner(): Promise<string> {
    return 'done';
  }
}

describe.each<[string, () => DynamicModule]>([
  ['RedisLockModule', () => RedisLockModule.forRoot({ connection: 'memory' })],
  ['LockTestingModule', () => LockTestingModule.forRoot()],
])('A %s that starts after Jest has reset its modules', (_, module) => {
  const app = duringEachTest(() => {
    // From now on, Jest loads each file anew that is required, as with its option `resetModules` before each test.
    jest.resetModules();
    return startModule({ imports: [module()], providers: [Jobs] });
  });

  it('provides the class that its application has imported', () => {
    expect(app.get(LockService)).toBeInstanceOf(LockService);
  });

  it('lets a nested call reuse the hold', async () => {
    expect(await app.get(Jobs).outer()).toBe('done');
  });

  it('throws errors of the class that its application has imported', async () => {
    const locks = app.get(LockService);
    await locks.using('taken', async () => {
      const attempt = locks.acquire('taken', { wait: 0, reentrant: false });
      await expect(attempt).rejects.toBeInstanceOf(LockTimeoutError);
    });
  });
});
