import { Agent, get } from 'node:http';
import { join } from 'node:path';
import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import {
  Controller,
  Get,
  Injectable,
  Logger,
  Sse,
  UseInterceptors,
  type CallHandler,
  type ExecutionContext,
  type MessageEvent,
  type NestInterceptor,
} from '@nestjs/common';
import { GraphQLModule, Query, Resolver } from '@nestjs/graphql';
import {
  ClientProxyFactory,
  MessagePattern,
  Transport,
  type ClientOptions,
  type ClientProxy,
  type TcpOptions,
} from '@nestjs/microservices';
import type { Redis } from 'ioredis';
import { firstValueFrom, interval, map, of, throwError, type Observable } from 'rxjs';
import { Locked, LockService, RedisLockModule } from '../../lib/index.js';
import { freePort } from '../support/free-port.js';
import { RedisServer } from '../support/redis-server.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { startWorker } from '../support/worker.js';
import { HttpApplication, platforms } from './support/http-application.js';
import { Journal } from './support/journal.js';
import type { KeepAliveCalls } from './support/keep-alive.worker.js';
import { TransactionInterceptor } from './support/transaction.interceptor.js';

/** Rejects each value of a handler. */
class RejectingInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(
      map(() => {
        throw new Error('done');
      }),
    );
  }
}

@Injectable()
class Orders {
  @Locked('z')
  stream(): Observable<string> {
    return of('done');
  }
}

@Controller()
class OrdersController {
  constructor(private readonly orders: Orders) {}

  @Get('promise')
  @Locked('z')
  async promise(): Promise<string> {
    return 'done';
  }

  @Get('object')
  @Locked('z')
  async object(): Promise<{ state: string }> {
    return { state: 'done' };
  }

  @Get('failing')
  @Locked('z')
  async failing(): Promise<string> {
    throw new Error('done');
  }

  @Get('observable')
  @Locked('z')
  observable(): Observable<string> {
    return of('done');
  }

  @Get('failing-observable')
  @Locked('z')
  failingObservable(): Observable<string> {
    return throwError(() => new Error('done'));
  }

  @Get('rejected-stream')
  @UseInterceptors(RejectingInterceptor)
  @Locked('z')
  rejectedStream(): Observable<string> {
    return interval(1).pipe(map(String));
  }

  @Get('promised-observable')
  @Locked('z')
  async promisedObservable(): Promise<Observable<string>> {
    return of('done');
  }

  @Get('in-transaction')
  @UseInterceptors(TransactionInterceptor)
  @Locked('z')
  async inTransaction(): Promise<string> {
    return 'done';
  }

  @Sse('events')
  @Locked('z')
  events(): Observable<MessageEvent> {
    return of({ data: 'one' }, { data: 'done' });
  }

  @Get('service')
  service(): Observable<string> {
    return this.orders.stream();
  }

  @MessagePattern('promise')
  @Locked('z')
  async message(): Promise<string> {
    return 'done';
  }

  @MessagePattern('observable')
  @Locked('z')
  messages(): Observable<string> {
    return of('done');
  }

  @MessagePattern('failing')
  @Locked('z')
  async failingMessage(): Promise<string> {
    throw new Error('done');
  }
}

@Resolver()
class OrdersResolver {
  @Query(() => String)
  @Locked('z')
  async order(): Promise<string> {
    return 'done';
  }
}

describe.each(platforms)('the answer of a locked handler on %s', (name, adapter) => {
  const isExpress = name === 'Express';
  let server: RedisServer;
  let proxy: TcpProxy;
  let redis: Redis;
  let app: HttpApplication;
  let client: ClientProxy;

  beforeAll(async () => {
    jest.spyOn(Logger.prototype, 'error').mockImplementation();
    server = await RedisServer.start();
    proxy = await TcpProxy.start(server);
    redis = server.client();
    const port = await freePort();
    const tcp: TcpOptions = { transport: Transport.TCP, options: { host: '127.0.0.1', port } };
    const graphql = GraphQLModule.forRoot<ApolloDriverConfig>({ driver: ApolloDriver, autoSchemaFile: true });
    app = await HttpApplication.start(
      adapter(),
      {
        imports: [
          RedisLockModule.forRoot({ connection: `redis://127.0.0.1:${proxy.port}` }),
          ...(isExpress ? [graphql] : []),
        ],
        controllers: [OrdersController],
        providers: [Orders, Journal, ...(isExpress ? [OrdersResolver] : [])],
      },
      { configure: (nest) => void nest.connectMicroservice(tcp, { inheritAppConfig: true }) },
    );
    await app.nest.startAllMicroservices();
    client = ClientProxyFactory.create(tcp as ClientOptions);
    await client.connect();
    await (await app.nest.get(LockService).acquire('warm')).release();
    // Longer than an answer takes to its client: a release that is only under way by then has not arrived.
    proxy.delay(50, 'toServer');
  });
  afterAll(async () => {
    await client.close();
    await app.stop();
    redis.disconnect();
    await proxy.close();
    await server.stop();
    jest.restoreAllMocks();
  });

  const isFree = async (): Promise<boolean> => (await redis.exists('lock:{z}')) === 0;

  const query: RequestInit = {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: '{ order }' }),
  };
  it.each<[string, number, RequestInit]>([
    ['/promise', 200, {}],
    ['/object', 200, {}],
    ['/failing', 500, {}],
    ['/observable', 200, {}],
    ['/failing-observable', 500, {}],
    ['/rejected-stream', 500, {}],
    ['/promised-observable', 200, {}],
    ['/in-transaction', 200, {}],
    ['/events', 200, {}],
    ['/service', 200, {}],
    ...(isExpress ? ([['/graphql', 200, query]] as [string, number, RequestInit][]) : []),
  ])('goes out after the release: %s', async (path, status, init) => {
    const response = await app.get(path, init);
    const text = await response.text();
    const freeByThen = await isFree();
    expect([response.status, freeByThen]).toEqual([status, true]);
    expect(text).toContain(status === 200 ? 'done' : 'Internal server error');
  });

  it.each(['promise', 'observable', 'failing'])(
    'to a message goes out after the release: %s',
    async (pattern) => {
      await firstValueFrom(client.send(pattern, 'order')).catch(() => undefined);
      expect(await isFree()).toBe(true);
    },
  );
});

describe('a process that serves locked routes', () => {
  const start = () =>
    startWorker<KeepAliveCalls>(join(__dirname, 'support/keep-alive.worker.ts'), [server.url]);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let server: RedisServer;

  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterAll(async () => {
    agent.destroy();
    await server.stop();
  });

  const statusOf = (port: number): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      get({ agent, host: '127.0.0.1', port, path: '/order' }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode));
      }).on('error', reject);
    });

  it('never blocks the next request of its client to another instance', async () => {
    await using first = await start();
    await using second = await start();
    const ports = [await first.call('listen'), await second.call('listen')];
    const statuses: (number | undefined)[] = [];
    for (let turn = 0; turn < 200; turn++) for (const port of ports) statuses.push(await statusOf(port));
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
  });

  it('leaves no lock behind when it is killed right after an answer', async () => {
    const redis = server.client();
    await using worker = await start();
    expect(await statusOf(await worker.call('listen'))).toBe(200);
    process.kill(worker.pid ?? 0, 'SIGKILL');
    expect(await redis.exists('lock:{z}')).toBe(0);
    redis.disconnect();
  });
});
