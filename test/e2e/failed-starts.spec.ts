import { join } from 'node:path';
import {
  Injectable,
  Module,
  type INestApplicationContext,
  type ModuleMetadata,
  type Provider,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  CurrentLock,
  Locked,
  LockConfigError,
  LockService,
  RedisLockModule,
  type Lock,
  type LockModuleOptions,
} from '../../lib/index.js';
import type { LockModuleExtras } from '../../lib/module/lock-module-extras.interface.js';
import { RedisServer } from '../support/redis-server.js';
import { waitFor } from '../support/wait-for.js';
import { startWorker } from '../support/worker.js';
import type { DroppedApplicationCalls } from './support/dropped-application.worker.js';

@Injectable()
class Jobs {
  @Locked('job')
  async run(@CurrentLock() lock?: Lock): Promise<readonly string[]> {
    return lock?.keys ?? [];
  }
}

@Injectable()
class Unsafe {
  async run(@CurrentLock() _lock?: Lock): Promise<void> {}
}

@Injectable()
class FailsAtInit {
  onModuleInit(): void {
    throw new Error('no database');
  }
}

@Injectable()
class FailsAtBootstrap {
  onApplicationBootstrap(): void {
    throw new Error('no queue');
  }
}

const madeByNest: Provider[] = [Jobs];
const madeByFactory: Provider[] = [{ provide: Jobs, useFactory: () => new Jobs() }];

describe('an application without the module', () => {
  let server: RedisServer;
  const apps: INestApplicationContext[] = [];

  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    for (const app of apps.splice(0)) await app.close();
  });
  afterAll(() => server.stop());

  async function start(metadata: ModuleMetadata): Promise<INestApplicationContext> {
    @Module(metadata)
    class AppModule {}
    const app = await NestFactory.createApplicationContext(AppModule, { logger: false, abortOnError: false });
    apps.push(app);
    return app;
  }

  const locks = (options: LockModuleOptions & LockModuleExtras = {}) =>
    RedisLockModule.forRoot({
      connection: { host: server.host, port: server.port, lazyConnect: true },
      ...options,
    });

  it('has no lock of one that runs beside it', async () => {
    await start({ imports: [locks()] });
    const app = await start({ providers: madeByNest });

    await expect(app.get(Jobs).run()).rejects.toThrow(LockConfigError);
  });

  describe.each([
    ['the module refuses', Unsafe],
    ['another provider fails at its start', FailsAtInit],
  ])('after one that did not start, since %s', (_why, failing) => {
    it.each([
      ['Nest', madeByNest],
      ['a factory', madeByFactory],
    ])('has no lock for an instance made by %s', async (_maker, providers) => {
      await expect(start({ imports: [locks()], providers: [failing] })).rejects.toThrow();
      const app = await start({ providers });

      await expect(app.get(Jobs).run()).rejects.toThrow(LockConfigError);
    });

    it('does not keep the next one with the module from being the only one', async () => {
      await expect(start({ imports: [locks()], providers: [failing] })).rejects.toThrow();
      const app = await start({ imports: [locks()] });
      const acquire = jest.spyOn(app.get(LockService), 'acquire');

      expect(await new Jobs().run()).toEqual(['job']);
      expect(acquire).toHaveBeenCalledTimes(1);
    });
  });

  it('has no lock for an instance made by Nest after one that failed late', async () => {
    await expect(start({ imports: [locks()], providers: [FailsAtBootstrap] })).rejects.toThrow('no queue');
    const app = await start({ providers: madeByNest });

    await expect(app.get(Jobs).run()).rejects.toThrow(LockConfigError);
  });

  it('has no lock of one that failed late for an instance of no application, once that one is collected', async () => {
    await using worker = await startWorker<DroppedApplicationCalls>(
      join(__dirname, 'support', 'dropped-application.worker.ts'),
      [server.url],
    );
    await expect(worker.call('startAndFail')).rejects.toThrow('no queue');
    const failure = (): Promise<unknown> =>
      worker.call('run').then(
        () => undefined,
        (error: unknown) => error,
      );

    expect(await waitFor(failure, { that: 'the failed application to be collected' })).toMatchObject({
      code: 'LOCK_CONFIG',
    });
    await worker.call('start');
    expect(await worker.call('run')).toBe('ran');
  });
});
