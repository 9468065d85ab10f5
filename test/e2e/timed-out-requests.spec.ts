import { once, type EventEmitter } from 'node:events';
import { Controller, Get, Injectable, UseInterceptors } from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { IoAdapter } from '@nestjs/platform-socket.io';
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { io } from 'socket.io-client';
import {
  ClientProxyFactory,
  MessagePattern,
  Transport,
  type ClientOptions,
  type TcpOptions,
} from '@nestjs/microservices';
import { Test, type TestingModule } from '@nestjs/testing';
import { defer, lastValueFrom, of, type Observable } from 'rxjs';
import { Locked, LockService, RedisLockModule } from '../../lib/index.js';
import { freePort } from '../support/free-port.js';
import { RedisServer } from '../support/redis-server.js';
import { waitFor } from '../support/wait-for.js';
import { AwaitingRetryInterceptor } from './support/awaiting-retry.interceptor.js';
import { HttpApplication, platforms } from './support/http-application.js';
import { Journal } from './support/journal.js';
import { otherApplication } from './support/other-application.js';
import { TimeoutInterceptor, timeOut } from './support/timeout.interceptor.js';

@Injectable()
class Stock {
  constructor(
    private readonly journal: Journal,
    private readonly locks: LockService,
  ) {}

  @Locked('stock', { wait: 60_000 })
  async take(): Promise<string> {
    this.journal.write('ran');
    return 'done';
  }

  @Locked('stock', { wait: 60_000 })
  takes(): Observable<string> {
    this.journal.write('ran');
    return of('done');
  }

  using(): Promise<string> {
    return this.locks.using('stock', { wait: 60_000 }, () => this.take());
  }

  async acquire(): Promise<string> {
    const lock = await this.locks.acquire(['another', 'stock'], { wait: 60_000 });
    this.journal.write('ran');
    await lock.release();
    return 'done';
  }
}

/** A service that calls another one. */
@Injectable()
class Orders {
  constructor(private readonly stock: Stock) {}

  async place(): Promise<string> {
    return this.stock.take();
  }
}

@Controller()
class OrdersController {
  constructor(
    private readonly stock: Stock,
    private readonly orders: Orders,
    private readonly journal: Journal,
  ) {}

  @Get('handler')
  @Locked('stock', { wait: 60_000 })
  async handler(): Promise<string> {
    this.journal.write('ran');
    return 'done';
  }

  @Get('awaited-twice')
  @MessagePattern('awaited-twice')
  @UseInterceptors(AwaitingRetryInterceptor)
  @Locked('stock', { wait: 60_000 })
  async awaitedTwice(): Promise<string> {
    this.journal.write('ran');
    return 'done';
  }

  @Get('service')
  @MessagePattern('service')
  service(): Promise<string> {
    return this.stock.take();
  }

  @Get('nested-service')
  nestedService(): Promise<string> {
    return this.orders.place();
  }

  @Get('observable')
  @MessagePattern('observable')
  observable(): Observable<string> {
    return this.stock.takes();
  }

  @Get('deferred')
  deferred(): Observable<string> {
    return defer(() => this.stock.take());
  }

  @Get('using')
  using(): Promise<string> {
    return this.stock.using();
  }

  @Get('several-names')
  @MessagePattern('several-names')
  severalNames(): Promise<string> {
    return this.stock.acquire();
  }

  /** Responds before the lock is there. */
  @Get('background')
  background(): string {
    void this.stock.take();
    return 'accepted';
  }
}

@Controller()
@UseInterceptors(TimeoutInterceptor)
class TimedController extends OrdersController {}

@WebSocketGateway()
@UseInterceptors(TimeoutInterceptor)
class OrdersGateway {
  constructor(private readonly stock: Stock) {}

  @SubscribeMessage('service')
  async service(): Promise<object> {
    return { event: 'done', data: await this.stock.take() };
  }
}

const providers = [Stock, Orders, Journal];
let server: RedisServer;
let other: TestingModule;
let holder: LockService;

beforeAll(async () => {
  server = await RedisServer.start();
  other = await otherApplication(server.url);
  holder = other.get(LockService);
});
afterAll(async () => {
  await other.close();
  await server.stop();
});

const pending = async (): Promise<number> => (await holder.query('stock')).pending.length;

/**
 * Makes a call while another instance holds the lock, and expects that its wait ends with the response.
 *
 * @param lines what the journal has then.
 */
async function expectWaitToEnd(
  journal: Journal,
  call: () => Promise<unknown>,
  lines: readonly string[] = [],
): Promise<void> {
  await holder.using('stock', async () => {
    const calling = call();
    await waitFor(async () => (await pending()) === 1, { that: 'the call to wait' });
    timeOut();
    await calling;
    await waitFor(async () => (await pending()) === 0, { that: 'the wait to end' });
  });
  await holder.using(['another', 'stock'], () => undefined);
  await waitFor(() => journal.lines.length >= lines.length);

  expect(journal.lines.splice(0)).toEqual(lines);
}

describe.each(platforms)('a request on %s that a TimeoutInterceptor has ended', (_name, adapter) => {
  const places = [
    ['the application', [OrdersController], [{ provide: APP_INTERCEPTOR, useClass: TimeoutInterceptor }]],
    ['the class', [TimedController], []],
  ] as const;

  describe.each(places)('of %s', (_place, controllers, interceptors) => {
    let app: HttpApplication;

    beforeAll(async () => {
      app = await HttpApplication.start(adapter(), {
        imports: [RedisLockModule.forRoot({ connection: server.url })],
        controllers: [...controllers],
        providers: [...providers, ...interceptors],
      });
    });
    afterAll(() => app.stop());

    it.each(['handler', 'service', 'nested-service', 'observable', 'deferred', 'using', 'several-names'])(
      'waits no longer for its first lock: %s',
      async (path) => {
        const journal = app.nest.get(Journal);
        await expectWaitToEnd(journal, async () => expect((await app.get(`/${path}`)).status).toBe(408));
      },
    );

    it('runs no handler that an interceptor awaits again', async () => {
      const call = async (): Promise<void> => expect((await app.get('/awaited-twice')).status).toBe(408);
      await expectWaitToEnd(app.nest.get(Journal), call, ['handled', 'handled']);
    });

    it('continues to wait in work that the handler did not await, after a response without an error', async () => {
      const journal = app.nest.get(Journal);
      await holder.using('stock', async () => {
        expect((await app.get('/background')).status).toBe(200);
        await waitFor(async () => (await pending()) === 1);
      });
      await waitFor(() => journal.lines.length === 1);

      expect(journal.lines.splice(0)).toEqual(['ran']);
    });
  });
});

it('waits no longer for the first lock of a gateway message that a TimeoutInterceptor has ended', async () => {
  const app = await HttpApplication.start(
    new ExpressAdapter(),
    {
      imports: [RedisLockModule.forRoot({ connection: server.url })],
      providers: [...providers, OrdersGateway],
    },
    { configure: (nest) => nest.useWebSocketAdapter(new IoAdapter(nest)) },
  );
  const client = io(await app.nest.getUrl(), { transports: ['websocket'], reconnection: false });
  await expectWaitToEnd(app.nest.get(Journal), async () => {
    client.emit('service');
    await once(client as unknown as EventEmitter, 'exception');
  });
  client.close();
  await app.stop();
});

describe('a TCP message that a TimeoutInterceptor has ended', () => {
  it.each<[string, string[]]>([
    ['service', []],
    ['observable', []],
    ['several-names', []],
    ['awaited-twice', ['handled', 'handled']],
  ])('waits no longer for its first lock: %s', async (pattern, lines) => {
    const transport: TcpOptions = {
      transport: Transport.TCP,
      options: { host: '127.0.0.1', port: await freePort() },
    };
    const module = await Test.createTestingModule({
      imports: [RedisLockModule.forRoot({ connection: server.url })],
      controllers: [OrdersController],
      providers: [...providers, { provide: APP_INTERCEPTOR, useClass: TimeoutInterceptor }],
    }).compile();
    const app = module.createNestMicroservice({ ...transport, logger: false });
    await app.listen();
    const client = ClientProxyFactory.create(transport as ClientOptions);
    await expectWaitToEnd(
      app.get(Journal),
      () => expect(lastValueFrom(client.send(pattern, {}))).rejects.toMatchObject({ status: 'error' }),
      lines,
    );
    client.close();
    await app.close();
  });
});
