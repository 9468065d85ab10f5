import {
  Injectable,
  Module,
  type DynamicModule,
  type INestApplicationContext,
  type ModuleMetadata,
  type Provider,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { Redis } from 'ioredis';
import {
  CurrentLock,
  Locked,
  LockConfigError,
  LockService,
  RedisLockModule,
  type Lock,
  type RedisLockModuleOptions,
} from '../../lib/index.js';
import type { RedisLockModuleExtras } from '../../lib/nest/module/lock-module.definition.js';
import { LockTestingModule } from '../../lib/testing/index.js';
import { duringTests } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';

@Injectable()
class Jobs {
  @Locked('job')
  async run(@CurrentLock() lock?: Lock): Promise<readonly string[]> {
    return lock?.keys ?? [];
  }
}

@Injectable()
class Plain {}

@Injectable()
class Unsafe {
  async run(@CurrentLock() _lock?: Lock): Promise<void> {}
}

@Injectable()
class FailsWhenMade {
  constructor() {
    throw new Error('no disk');
  }
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

const server = duringTests(() => RedisServer.start());
const apps: INestApplicationContext[] = [];

afterEach(async () => {
  jest.restoreAllMocks();
  for (const app of apps.splice(0)) await app.close();
});

async function start(metadata: ModuleMetadata): Promise<INestApplicationContext> {
  @Module(metadata)
  class AppModule {}
  const app = await NestFactory.createApplicationContext(AppModule, { logger: false, abortOnError: false });
  apps.push(app);
  return app;
}

const locks = (options: RedisLockModuleOptions & RedisLockModuleExtras = {}): DynamicModule =>
  RedisLockModule.forRoot({ connection: server.url, ...options });

// For an application that fails after the modules have begun: Nest does not close it, and a connection would remain.
const lazyLocks = (): DynamicModule => locks({ connection: `${server.url}?lazyConnect=true` });

describe.each([RedisLockModule, LockTestingModule])('the import of %p without options', (module) => {
  it.each([
    ['locked methods', Jobs],
    ['no locked method', Plain],
  ])('fails the start of an application with %s', async (_what, provider) => {
    await expect(start({ imports: [module], providers: [provider] })).rejects.toThrow(
      `The application imports ${module.name} without options, which provides no locks. Write imports: [${module.name}.forRoot({ … })].`,
    );
  });

  it('is accepted beside one with options, whose locks it uses', async () => {
    @Module({ imports: [module], providers: madeByNest })
    class JobsModule {}
    const app = await start({ imports: [JobsModule, locks()] });

    expect(await app.get(Jobs).run()).toEqual(['job']);
  });
});

it.each([
  ['with the module', () => [locks()]],
  ['without it', () => []],
])(
  'LockService as a provider of an application %s fails the start with its remedy',
  async (_which, imports) => {
    await expect(start({ imports: imports(), providers: [LockService] })).rejects.toThrow(
      new LockConfigError(
        'LockService was constructed without options. Remove it from the providers of your module: RedisLockModule.forRoot() provides it.',
      ),
    );
  },
);

describe('an application without the module', () => {
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
    await expect(start({ imports: [lazyLocks()], providers: [FailsAtBootstrap] })).rejects.toThrow(
      'no queue',
    );
    const app = await start({ providers: madeByNest });

    await expect(app.get(Jobs).run()).rejects.toThrow(LockConfigError);
  });

  it('has no lock of one that failed late for an instance of no application, once that one is collected', async () => {
    await expect(start({ imports: [lazyLocks()], providers: [FailsAtBootstrap] })).rejects.toThrow(
      'no queue',
    );
    // What a reference says of a collected object; when the collector comes is not for a test to know.
    const collected = jest.spyOn(WeakRef.prototype, 'deref').mockReturnValue(undefined);
    await expect(new Jobs().run()).rejects.toThrow(LockConfigError);
    collected.mockRestore();
    await start({ imports: [locks()] });

    expect(await new Jobs().run()).toEqual(['job']);
  });
});

describe('an application that does not start leaves no connection behind', () => {
  let servers: RedisServer[];
  let clients: Redis[];

  beforeAll(async () => {
    servers = await Promise.all([1, 2, 3].map(() => RedisServer.start()));
    clients = servers.map((each) => each.client());
  });
  afterAll(() => Promise.all(servers.map((each) => each.stop())));

  /** How many connections the servers have accepted so far. */
  const accepted = async (): Promise<number> => {
    const counts = clients.map(async (client) =>
      /total_connections_received:(\d+)/.exec(await client.info('stats')),
    );
    return (await Promise.all(counts)).reduce((sum, count) => sum + Number(count?.[1]), 0);
  };
  const urls = (): string[] => servers.map(({ url }) => url);
  const nodes = (): { host: string; port: number }[] => servers.map(({ host, port }) => ({ host, port }));

  const topologies: [string, () => RedisLockModuleOptions['connection']][] = [
    ['one Redis', () => urls()[0]],
    ['one Redis, with a client of the user', () => servers[0]?.client({ lazyConnect: true })],
    ['Redis behind sentinels', () => ({ sentinels: nodes(), name: 'mymaster' })],
    ['a Redis Cluster', () => ({ nodes: nodes() })],
    ['a quorum', urls],
  ];

  const expectNoConnection = async (
    failing: Provider,
    connection: RedisLockModuleOptions['connection'],
  ): Promise<void> => {
    const before = await accepted();
    await expect(start({ imports: [locks({ connection })], providers: [failing] })).rejects.toThrow();
    // Begins to connect later, so that those of the other would be there by then.
    const later = await start({ imports: [locks({ connection: server.url })] });
    await later.get(LockService).using('later', () => undefined);
    expect(await accepted()).toBe(before);
  };

  it.each(topologies)('to %s', async (_topology, connection) => {
    await expectNoConnection(FailsAtInit, connection());
  });

  it.each<[string, Provider]>([
    ['the module refuses it', Unsafe],
    ['a constructor throws', FailsWhenMade],
    ['a factory rejects', { provide: 'mail', useFactory: () => Promise.reject(new Error('no mail server')) }],
  ])('where %s', async (_why, failing) => {
    await expectNoConnection(failing, urls()[0]);
  });

  it.each<[string, () => RedisLockModuleOptions['connection']]>([
    ['one Redis', () => `${urls()[0]}?lazyConnect=true`],
    ['a Redis Cluster', () => ({ nodes: nodes(), options: { lazyConnect: true } })],
    ['a quorum', () => nodes().map((node) => ({ ...node, lazyConnect: true }))],
  ])('to %s if onApplicationBootstrap throws and lazyConnect is set', async (_topology, connection) => {
    await expectNoConnection(FailsAtBootstrap, connection());
  });

  it('if the options of another module are unavailable', async () => {
    const before = await accepted();
    const reports = RedisLockModule.forRootAsync({
      name: 'reports',
      useFactory: () => Promise.reject(new Error('no configuration')),
    });
    await expect(start({ imports: [locks({ connection: urls()[0] ?? '' }), reports] })).rejects.toThrow(
      'no configuration',
    );
    const later = await start({ imports: [locks({ connection: server.url })] });
    await later.get(LockService).using('later', () => undefined);
    expect(await accepted()).toBe(before);
  });
});
