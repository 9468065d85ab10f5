import { Injectable, Module, Scope, type ModuleMetadata } from '@nestjs/common';
import { ContextIdFactory, ModuleRef } from '@nestjs/core';
import { Test, type TestingModule } from '@nestjs/testing';
import {
  CurrentLock,
  Locked,
  LockConfigError,
  LockService,
  Once,
  RedisLockModule,
  getLockServiceToken,
  type Lock,
} from '../../lib/index.js';
import { duringTests, endingAfterEachTest } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { startModule } from './support/start-module.js';

@Injectable()
class Jobs {
  runs = 0;

  @Locked('job:<0>')
  async run(name: string, @CurrentLock() lock?: Lock): Promise<readonly string[]> {
    this.runs += 1;
    return [...(lock?.keys ?? []), name];
  }
}

@Injectable()
class InheritingJobs extends Jobs {}

@Injectable()
class OverridingJobs extends Jobs {
  override async run(name: string, lock?: Lock): Promise<readonly string[]> {
    return ['overridden', ...(await super.run(name, lock))];
  }
}

@Injectable()
class UnlockedJobs extends Jobs {
  override async run(_name: string, lock?: Lock): Promise<readonly string[]> {
    return lock?.keys ?? ['unlocked'];
  }
}

@Injectable()
class RelockedJobs extends Jobs {
  @Locked('outer:<0>')
  override async run(name: string, @CurrentLock() lock?: Lock): Promise<readonly string[]> {
    return [...(lock?.keys ?? []), ...(await super.run(name))];
  }
}

@Injectable({ scope: Scope.REQUEST })
class RequestJobs extends Jobs {}

@Injectable({ scope: Scope.TRANSIENT })
class TransientJobs extends Jobs {}

class ReportJobs {
  @Locked('report:<0>', { module: 'reports' })
  async run(_name: string, @CurrentLock() lock?: Lock): Promise<readonly string[]> {
    return lock?.keys ?? [];
  }
}

describe('an instance with locked methods', () => {
  const server = duringTests(() => RedisServer.start());
  const closing = endingAfterEachTest();

  async function start(
    metadata: ModuleMetadata,
    imports = [RedisLockModule.forRoot({ connection: server.url })],
  ): Promise<TestingModule> {
    const all = [...imports, ...(metadata.imports ?? [])];
    return closing(await startModule({ ...metadata, imports: all }));
  }

  it.each([
    [Jobs, ['job:a', 'a']],
    [InheritingJobs, ['job:a', 'a']],
    [OverridingJobs, ['overridden', 'job:a', 'a']],
    [UnlockedJobs, ['unlocked']],
    [RelockedJobs, ['outer:a', 'job:a', 'a']],
  ])('is locked as its class says when Nest constructs it: %p', async (jobs, expected) => {
    const app = await start({ providers: [jobs] });
    expect(await app.get(jobs).run('a')).toEqual(expected);
  });

  it('is locked when it is request-scoped or transient', async () => {
    const app = await start({ providers: [RequestJobs, TransientJobs] });
    expect(await (await app.resolve(RequestJobs, ContextIdFactory.create())).run('a')).toEqual([
      'job:a',
      'a',
    ]);
    expect(await (await app.resolve(TransientJobs)).run('a')).toEqual(['job:a', 'a']);
  });

  it('is locked in its own application if its module does not see the service, with two in the process', async () => {
    const providers = [RequestJobs];
    const imports = [RedisLockModule.forRoot({ connection: server.url, isGlobal: false })];
    @Module({ providers })
    class Blind {}
    const [one, two] = [
      await start({ imports: [Blind] }, imports),
      await start({ imports: [Blind] }, imports),
    ];
    for (const app of [one, two]) {
      const acquire = jest.spyOn(app.get(LockService), 'acquire');
      const jobs = await app.resolve(RequestJobs, ContextIdFactory.create());
      expect(await jobs.run('a')).toEqual(['job:a', 'a']);
      expect(acquire).toHaveBeenCalledTimes(1);
    }
  });

  it('is locked in its own application when a factory makes it, with two in the process', async () => {
    const providers = [{ provide: Jobs, useFactory: () => new Jobs() }];
    const [one, two] = [await start({ providers }), await start({ providers })];
    for (const app of [one, two]) {
      const acquire = jest.spyOn(app.get(LockService), 'acquire');
      expect(await app.get(Jobs).run('a')).toEqual(['job:a', 'a']);
      expect(acquire).toHaveBeenCalledTimes(1);
    }
  });

  it.each([
    ['request-scoped', Scope.REQUEST],
    ['transient', Scope.TRANSIENT],
  ])(
    'is locked in its own application when a %s factory makes it, with two in the process',
    async (_, scope) => {
      const providers = [
        { provide: Jobs, scope, inject: [ModuleRef], useFactory: async (_ref: ModuleRef) => new Jobs() },
        { provide: 'user', inject: [Jobs], useFactory: (jobs: Jobs) => ({ jobs }) },
      ];
      const [one, two] = [await start({ providers }), await start({ providers })];
      for (const app of [one, two]) {
        const acquire = jest.spyOn(app.get(LockService), 'acquire');
        const context = ContextIdFactory.create();
        const user = await app.resolve<{ jobs: Jobs }>('user', context);
        expect(await user.jobs.run('a')).toEqual(['job:a', 'a']);
        expect(await (await app.resolve(Jobs, context)).run('a')).toEqual(['job:a', 'a']);
        expect(acquire).toHaveBeenCalledTimes(2);
      }
    },
  );

  it('follows from one application to the next when both are given the same value', async () => {
    const jobs = new Jobs();
    const providers = [{ provide: Jobs, useValue: jobs }];
    const first = await start({ providers });
    await jobs.run('a');
    await first.close();
    const second = await start({ providers });
    const acquire = jest.spyOn(second.get(LockService), 'acquire');
    expect(await jobs.run('b')).toEqual(['job:b', 'b']);
    expect(acquire).toHaveBeenCalledTimes(1);
  });

  it('is locked in onModuleInit of its users', async () => {
    const seen: (readonly string[])[] = [];
    @Module({ providers: [{ provide: Jobs, useFactory: () => new Jobs() }] })
    class JobsModule {
      constructor(private readonly jobs: Jobs) {}
      async onModuleInit(): Promise<void> {
        seen.push(await this.jobs.run('init'));
      }
    }
    @Module({ imports: [JobsModule] })
    class Outer {}
    const other = await start({});
    await start({ imports: [Outer] });
    expect(seen).toEqual([['job:init', 'init']]);
    await other.close();
  });

  it('is locked by the only running service when it is created after the start', async () => {
    const app = await start({});
    const acquire = jest.spyOn(app.get(LockService), 'acquire');
    expect(await new Jobs().run('a')).toEqual(['job:a', 'a']);
    expect(acquire).toHaveBeenCalledTimes(1);
  });

  it('rejects calls when it is created after the start and two applications could serve it', async () => {
    await start({});
    await start({});
    const jobs = new Jobs();
    await expect(jobs.run('a')).rejects.toThrow(LockConfigError);
    await expect(jobs.run('a')).rejects.toThrow('Jobs.run is @Locked, but finds no LockService.');
    expect(jobs.runs).toBe(0);
  });

  it('rejects calls without the module, also after the only application has ended', async () => {
    await (await start({})).close();
    const app = await start({ providers: [Jobs] }, []);
    await expect(app.get(Jobs).run('a')).rejects.toThrow('Import the RedisLockModule in its application');
    expect(app.get(Jobs).runs).toBe(0);
  });

  it('names its own decorator in these errors', async () => {
    const calls: Promise<unknown>[] = [];
    class Reports {
      @Once('report', { keep: '1h' })
      async build(): Promise<void> {}
    }
    @Injectable()
    class EagerReports extends Reports {
      constructor() {
        super();
        calls.push(this.build().catch(String));
      }
    }
    @Injectable()
    class EagerReportsAgain extends EagerReports {}
    const app = await start({ providers: [EagerReportsAgain] }, []);
    calls.push(app.get(EagerReportsAgain).build().catch(String));
    expect(await Promise.all(calls)).toEqual([
      expect.stringContaining(
        'Reports.build is @Once and was called in the constructor of EagerReportsAgain',
      ),
      expect.stringContaining('Reports.build is @Once, but finds no LockService.'),
    ]);
  });

  it('reports that its constructor calls it too early', async () => {
    const calls: Promise<unknown>[] = [];
    @Injectable()
    class EagerJobs extends Jobs {
      constructor() {
        super();
        calls.push(this.run('a').catch(String));
      }
    }
    @Injectable()
    class EagerJobsAgain extends EagerJobs {}
    await start({ providers: [EagerJobsAgain] });
    expect(await Promise.all(calls)).toEqual([
      'LockConfigError: Jobs.run is @Locked and was called in the constructor of EagerJobsAgain, ' +
        'before Nest injects the LockService. Call it in onModuleInit() or later.',
    ]);
  });

  it('uses the module that its option names', async () => {
    const app = await start({ providers: [ReportJobs] }, [
      RedisLockModule.forRoot({ connection: server.url }),
      RedisLockModule.forRoot({ connection: server.url, name: 'reports' }),
    ]);
    const reports = jest.spyOn(app.get<LockService>(getLockServiceToken('reports')), 'acquire');
    const unnamed = jest.spyOn(app.get(LockService), 'acquire');
    expect(await app.get(ReportJobs).run('a')).toEqual(['report:a']);
    expect(reports).toHaveBeenCalledTimes(1);
    expect(unnamed).not.toHaveBeenCalled();
  });

  it('names the module that is missing for its option', async () => {
    const app = await start({ providers: [ReportJobs] });
    await expect(app.get(ReportJobs).run('a')).rejects.toThrow("RedisLockModule named 'reports'");
  });

  it('uses a mock of the LockService', async () => {
    const release = jest.fn(async () => undefined);
    const lock = { keys: ['fake'], release, assertHeld: jest.fn(), held: true };
    const builder = Test.createTestingModule({
      imports: [RedisLockModule.forRoot({ connection: server.url })],
      providers: [Jobs, { provide: 'made', useFactory: () => new Jobs() }],
    });
    const mocked = builder.overrideProvider(LockService).useValue({ acquire: async () => lock });
    const testingModule = closing(await (await mocked.compile()).init());
    expect(await testingModule.get(Jobs).run('a')).toEqual(['fake', 'a']);
    expect(await testingModule.get<Jobs>('made').run('a')).toEqual(['fake', 'a']);
    expect(release).toHaveBeenCalledTimes(2);
  });

  it('can be created by ModuleRef', async () => {
    const app = await start({});
    expect(await (await app.get(ModuleRef).create(Jobs)).run('a')).toEqual(['job:a', 'a']);
  });
});
