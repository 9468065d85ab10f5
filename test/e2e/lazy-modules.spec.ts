import { Injectable, Module, type Type } from '@nestjs/common';
import { LazyModuleLoader, NestFactory, type ModuleRef } from '@nestjs/core';
import { LockConfigError, Locked, LockService, RedisLockModule } from '../../lib/index.js';
import { duringTests, endingAfterEachTest } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';

@Injectable()
class Jobs {
  @Locked('job')
  async run(): Promise<string> {
    return 'ran';
  }
}

@Injectable()
class Reports {
  constructor(private readonly locks: LockService) {}

  run(): Promise<string> {
    return this.locks.using('report', () => 'ran');
  }
}

@Module({
  providers: [Jobs, Reports, { provide: 'by hand', useFactory: () => new Jobs() }],
})
class UsesLocks {}

describe('a module that is loaded lazily', () => {
  const server = duringTests(() => RedisServer.start());
  const closing = endingAfterEachTest();

  const locks = (isGlobal = true) => RedisLockModule.forRoot({ connection: server.url, isGlobal });

  async function start(...imports: ReturnType<typeof locks>[]): Promise<LazyModuleLoader> {
    @Module({ imports })
    class AppModule {}
    const options = { logger: false, abortOnError: false } as const;
    return closing(await NestFactory.createApplicationContext(AppModule, options)).get(LazyModuleLoader);
  }

  const load = (loader: LazyModuleLoader, module: Type): Promise<ModuleRef> => loader.load(() => module);

  it('has the locks of the application', async () => {
    const loader = await start(locks());
    const module = await load(loader, UsesLocks);

    expect(await module.get(Jobs).run()).toBe('ran');
    expect(await module.get<Jobs>('by hand').run()).toBe('ran');
    expect(await module.get(Reports).run()).toBe('ran');
  });

  it('has the locks of a module that is not global, if it imports a module that exports it', async () => {
    const local = locks(false);
    @Module({ imports: [local], exports: [local] })
    class Shared {}
    @Module({ imports: [Shared], providers: [Reports] })
    class UsesLocalLocks {}
    const loader = await start({ module: Shared });

    expect(await (await load(loader, UsesLocalLocks)).get(Reports).run()).toBe('ran');
  });

  it.each([true, false])('cannot be RedisLockModule itself, isGlobal: %s', async (isGlobal) => {
    const loader = await start();
    const refused = loader.load(() => locks(isGlobal));

    await expect(refused).rejects.toThrow(LockConfigError);
    await expect(refused).rejects.toThrow('Import it in the root module');
  });

  it('cannot import RedisLockModule, with and without other locks in the application', async () => {
    const reports = RedisLockModule.forRootAsync({
      name: 'reports',
      useFactory: () => ({ connection: server.url }),
    });
    @Module({ imports: [reports] })
    class Lazy {}
    for (const imports of [[], [locks()]]) {
      const loader = await start(...imports);
      await expect(load(loader, Lazy)).rejects.toThrow(LockConfigError);
    }
  });
});
