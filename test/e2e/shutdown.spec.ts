import { Agent, get, type IncomingMessage, type Server } from 'node:http';
import { join } from 'node:path';
import {
  Controller,
  Get,
  Global,
  Injectable,
  Module,
  type BeforeApplicationShutdown,
  type DynamicModule,
  type OnApplicationShutdown,
  type OnModuleDestroy,
} from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { Redis } from 'ioredis';
import { Locked, LockClosedError, LockService, RedisLockModule } from '../../lib/index.js';
import { duringTests } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { waitFor } from '../support/wait-for.js';
import { startWorker } from '../support/worker.js';
import { Gate } from './support/gate.js';
import { HttpApplication, platforms } from './support/http-application.js';
import type { KeepAliveCalls } from './support/keep-alive.worker.js';
import { otherApplication } from './support/other-application.js';

const server = duringTests(() => RedisServer.start());

const CONNECTIONS: [name: string, connection: () => string][] = [
  ['Redis', () => server.url],
  ['memory', () => 'memory'],
];

/** What calls find in each hook of a provider. */
class Probe implements OnModuleDestroy, BeforeApplicationShutdown, OnApplicationShutdown {
  readonly found: Record<string, readonly string[]> = {};

  locks!: LockService;

  async onModuleDestroy(): Promise<void> {
    this.found['onModuleDestroy'] = await this.call();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.found['beforeApplicationShutdown'] = await this.call();
  }

  async onApplicationShutdown(): Promise<void> {
    this.found['onApplicationShutdown'] = await this.call();
  }

  private async call(): Promise<readonly string[]> {
    const { locks } = this;
    const outcomes = await Promise.allSettled([
      locks.using('free', () => 'a free lock'),
      locks.using('outer', () => locks.using(['outer', 'inner'], () => 'a nested one')),
      locks.using('taken', { wait: 60_000 }, () => 'a taken one'),
      locks.tryAcquire('taken').then((lock) => (lock === undefined ? 'taken' : 'free')),
    ]);
    return outcomes.map((each) => (each.status === 'fulfilled' ? each.value : (each.reason as Error).name));
  }
}

@Injectable()
class RootProbe extends Probe {}
@Injectable()
class DeepProbe extends Probe {}
@Injectable()
class EarlyProbe extends Probe {}
@Injectable()
class LateProbe extends Probe {}

@Module({ providers: [DeepProbe] })
class DeepModule {}
@Module({ imports: [DeepModule] })
class MiddleModule {}
@Module({ imports: [MiddleModule] })
class FeatureModule {}
@Global()
@Module({ providers: [EarlyProbe] })
class EarlyModule {}
@Global()
@Module({ providers: [LateProbe] })
class LateModule {}

/** Global modules before and after, and a deep module that is not global. */
const around = (locks: DynamicModule) => [EarlyModule, FeatureModule, locks, LateModule];

describe.each(CONNECTIONS)('the shutdown of an application with locks in %s', (_name, connection) => {
  it.each([
    ['global', around],
    ['not global', (locks: DynamicModule) => around({ ...locks, global: false })],
  ])(
    'treats calls equally in every hook of every module, with a module that is %s',
    async (_which, importing) => {
      const holder = await Test.createTestingModule({
        imports: [RedisLockModule.forRoot({ connection: connection() })],
      }).compile();
      const module = await Test.createTestingModule({
        imports: importing(RedisLockModule.forRoot({ connection: connection() })),
        providers: [RootProbe],
      }).compile();
      await module.init();
      const locks = module.get(LockService, { strict: false });
      const probes = [RootProbe, DeepProbe, EarlyProbe, LateProbe].map((type) =>
        module.get<Probe>(type, { strict: false }),
      );
      for (const probe of probes) probe.locks = locks;
      const taken = await holder.get(LockService).acquire('taken');
      await module.close();

      const found = ['a free lock', 'a nested one', 'LockClosedError', 'taken'];
      const inEach = {
        onModuleDestroy: found,
        beforeApplicationShutdown: found,
        onApplicationShutdown: found,
      };
      expect(probes.map((probe) => probe.found)).toEqual([inEach, inEach, inEach, inEach]);
      await expect(locks.acquire('free')).rejects.toBeInstanceOf(LockClosedError);
      await taken.release();
      await holder.close();
    },
  );
});

describe('the shutdown of RedisLockModule', () => {
  const events: string[] = [];

  @Module({
    providers: [{ provide: Redis, useFactory: () => new Redis(server.url) }],
    exports: [Redis],
  })
  class UserRedisModule implements OnApplicationShutdown {
    constructor(private readonly client: Redis) {}

    async onApplicationShutdown(): Promise<void> {
      events.push(`user's Redis closes with ${(await this.client.keys('lock:*held*')).length} locks held`);
      await this.client.quit();
    }
  }

  it('waits for holders before its imported Redis module shuts down, whose client it leaves open', async () => {
    const module = await Test.createTestingModule({
      imports: [
        RedisLockModule.forRootAsync({
          imports: [UserRedisModule],
          inject: [Redis],
          useFactory: (connection: Redis) => ({ connection }),
        }),
      ],
    }).compile();
    await module.init();
    const awaitHolders = jest.spyOn(module.get(LockService), 'awaitHolders');
    const lock = await module.get(LockService).acquire('held');
    const closing = module.close();
    await waitFor(() => awaitHolders.mock.calls.length === 1);
    expect(events).toEqual([]);
    await lock.release();
    await closing;
    expect(events).toEqual(["user's Redis closes with 0 locks held"]);
  });
});

describe.each(platforms)('the shutdown of an application on %s', (_name, adapter) => {
  let gate: Gate;

  @Controller()
  class WorkController {
    constructor(private readonly locks: LockService) {}

    @Get('work')
    @Locked('work', { wait: 60_000 })
    async work(): Promise<string> {
      await gate.pass();
      return this.locks.using('second', () => 'done');
    }

    @Get('late')
    async late(): Promise<string> {
      await gate.pass();
      return this.locks.using(['first', 'third'], () => 'done');
    }
  }

  it('serves accepted requests, and ends waits with 503', async () => {
    gate = new Gate();
    const app = await HttpApplication.start(adapter(), {
      imports: [RedisLockModule.forRoot({ connection: server.url })],
      controllers: [WorkController],
    });
    const acquire = jest.spyOn(app.nest.get(LockService), 'acquire');
    const running = app.get('/work');
    await waitFor(() => gate.arrived === 1);
    const accepted = app.get('/late');
    await waitFor(() => gate.arrived === 2);
    const waiting = app.get('/work');
    await waitFor(() => acquire.mock.calls.length === 2);
    const closing = app.nest.close();
    expect((await waiting).status).toBe(503);
    gate.open();
    gate.open();
    for (const response of [await running, await accepted]) expect(await response.text()).toBe('done');
    const http: Server = app.nest.getHttpServer();
    http.closeAllConnections();
    await closing;
  });
});

describe.each(platforms)('a process on %s that receives SIGTERM', (name) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });

  afterAll(() => agent.destroy());

  function responseOf(port: number): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      get({ agent, host: '127.0.0.1', port, path: '/patient' }, (response) => {
        response.resume().on('end', () => resolve(response));
      }).on('error', reject);
    });
  }

  it('ends soon, although a client sends one request after the other on one connection', async () => {
    await using worker = await startWorker<KeepAliveCalls>(join(__dirname, 'support/keep-alive.worker.ts'), [
      server.url,
      name,
    ]);
    const port = await worker.call('listen');
    expect((await responseOf(port)).statusCode).toBe(200);
    const other = await otherApplication(server.url);
    const holder = other.get(LockService);
    const lock = await holder.acquire('z');
    const responses: IncomingMessage[] = [];
    const sending = (async () => {
      for (;;) responses.push(await responseOf(port));
    })().catch((error: unknown) => error);
    await waitFor(async () => (await holder.query('z')).pending.length === 1);
    process.kill(worker.pid ?? 0, 'SIGTERM');
    const refused = await sending;
    await worker.exited;

    await lock.release();
    await other.close();
    // A connection that the system accepted before the server closed is reset.
    expect(refused).toMatchObject({ code: expect.stringMatching(/^ECONN(REFUSED|RESET)$/) });
    expect(responses).not.toEqual([]);
    for (const { headers, statusCode } of responses)
      expect({ statusCode, ...headers }).toMatchObject({
        statusCode: 503,
        connection: 'close',
        'retry-after': '1',
      });
  });
});
