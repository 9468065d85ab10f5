import { Logger, UseFilters, UseInterceptors, type INestApplication } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { IoAdapter } from '@nestjs/platform-socket.io';
import { WsAdapter } from '@nestjs/platform-ws';
import { MessageBody, SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { io } from 'socket.io-client';
import { WebSocket } from 'ws';
import { Locked, LockExceptionFilter, LockService, RedisLockModule } from '../../../lib/index.js';
import { duringEachTest, duringTests } from '../../support/during-tests.js';
import { RedisServer } from '../../support/redis-server.js';
import { waitFor } from '../../support/wait-for.js';
import { AwaitingRetryInterceptor } from '../support/awaiting-retry.interceptor.js';
import { HttpApplication } from '../support/http-application.js';
import { Journal } from '../support/journal.js';
import { TransactionInterceptor } from '../support/transaction.interceptor.js';
import { CriticalSection } from './support/critical-section.js';

interface Reply {
  readonly event: string;
  readonly data: unknown;
}

@WebSocketGateway()
@UseFilters(LockExceptionFilter)
class StockGateway {
  constructor(
    private readonly section: CriticalSection,
    private readonly journal: Journal,
  ) {}

  @SubscribeMessage('reserve')
  @UseInterceptors(TransactionInterceptor)
  @Locked('stock:<0.sku>')
  async reserve(@MessageBody() { sku }: { sku: string }): Promise<Reply> {
    this.journal.write('reserve');
    await this.section.run();
    return { event: 'reserved', data: sku };
  }

  @SubscribeMessage('wait')
  @Locked('stock:<0.sku>')
  async wait(@MessageBody() { sku }: { sku: string }): Promise<Reply> {
    return { event: 'reserved', data: sku };
  }

  @SubscribeMessage('retry')
  @UseInterceptors(AwaitingRetryInterceptor)
  @Locked('stock:<0.sku>')
  async retry(@MessageBody() { sku }: { sku: string }): Promise<Reply> {
    this.journal.write('ran');
    return { event: 'reserved', data: sku };
  }

  @SubscribeMessage('attempt')
  @Locked('stock:<0.sku>', { wait: 0 })
  async attempt(@MessageBody() { sku }: { sku: string }): Promise<Reply> {
    return { event: 'reserved', data: sku };
  }
}

@WebSocketGateway()
class UnfilteredGateway {
  @SubscribeMessage('unfiltered')
  @Locked('stock:<0.sku>', { wait: 0 })
  async attempt(@MessageBody() { sku }: { sku: string }): Promise<Reply> {
    return { event: 'reserved', data: sku };
  }
}

/** One client of a gateway, and what it was sent. */
interface GatewayClient {
  readonly received: Reply[];
  send(event: string, data: unknown): void;
  close(): void;
}

function socketIoClient(url: string): GatewayClient {
  const received: Reply[] = [];
  const socket = io(url, { transports: ['websocket'], reconnection: false });
  socket.onAny((event: string, data: unknown) => received.push({ event, data }));
  return { received, send: (event, data) => socket.emit(event, data), close: () => socket.close() };
}

function webSocketClient(url: string): GatewayClient {
  const received: Reply[] = [];
  const socket = new WebSocket(url.replace('http', 'ws'));
  const opened = new Promise((resolve) => socket.once('open', resolve));
  socket.on('message', (frame: Buffer) => received.push(JSON.parse(frame.toString()) as Reply));
  return {
    received,
    send: (event, data) => void opened.then(() => socket.send(JSON.stringify({ event, data }))),
    close: () => socket.terminate(),
  };
}

describe.each([
  ['socket.io', (app: INestApplication) => new IoAdapter(app), socketIoClient],
  ['ws', (app: INestApplication) => new WsAdapter(app), webSocketClient],
] as const)('locked handlers of a gateway on %s', (_name, adapter, connect) => {
  const server = duringTests(() => RedisServer.start());
  const app = duringEachTest(() => {
    const metadata = {
      imports: [RedisLockModule.forRoot({ connection: server.url })],
      providers: [StockGateway, UnfilteredGateway, CriticalSection, Journal],
    };
    const configure = (nest: INestApplication) => nest.useWebSocketAdapter(adapter(nest));
    return HttpApplication.start(new ExpressAdapter(), metadata, { configure });
  });
  const client = duringEachTest(async () => connect(await app.nest.getUrl()));

  it('exclude each other, and release after their interceptors have ended', async () => {
    for (const sku of ['a', 'a', 'a']) client.send('reserve', { sku });
    await waitFor(() => client.received.length === 3);
    expect(client.received).toEqual([1, 2, 3].map(() => ({ event: 'reserved', data: 'a' })));
    expect(app.nest.get(CriticalSection).most).toBe(1);
    expect(app.nest.get(Journal).lines).toEqual([1, 2, 3].flatMap(() => ['reserve', 'commit']));
  });

  it('end the wait of a client that disconnects', async () => {
    const locks = app.nest.get(LockService);
    await using _ = await locks.acquire('stock:a');
    client.send('wait', { sku: 'a' });
    await waitFor(() => locks.holds()[0]?.waiting === 1);
    client.close();
    await waitFor(() => locks.holds()[0]?.waiting === 0);
  });

  it('do not run for a client that has disconnected when an interceptor awaits them again', async () => {
    const locks = app.nest.get(LockService);
    const { lines } = app.nest.get(Journal);
    const holder = await locks.acquire('stock:a');
    client.send('retry', { sku: 'a' });
    await waitFor(() => locks.holds()[0]?.waiting === 1);
    client.close();
    await waitFor(() => lines.length === 2);
    await holder.release();
    expect(lines).toEqual(['handled', 'handled']);
  });

  describe('that get no lock', () => {
    beforeEach(() => {
      jest.spyOn(Logger.prototype, 'error').mockImplementation();
    });
    afterEach(() => {
      jest.restoreAllMocks();
    });

    it('send the event "exception" with the code of the lock error, and log nothing', async () => {
      await using _ = await app.nest.get(LockService).acquire('stock:a');
      client.send('attempt', { sku: 'a' });
      await waitFor(() => client.received.length === 1);
      expect(client.received).toEqual([
        {
          event: 'exception',
          data: {
            status: 'error',
            code: 'LOCK_TIMEOUT',
            message: 'The resource is in use, try again later',
            retryAfter: 1,
          },
        },
      ]);
      expect(Logger.prototype.error).not.toHaveBeenCalled();
    });

    it('hide the lock error without LockExceptionFilter', async () => {
      await using _ = await app.nest.get(LockService).acquire('stock:a');
      client.send('unfiltered', { sku: 'a' });
      await waitFor(() => client.received.length === 1);
      expect(client.received).toMatchObject([
        { event: 'exception', data: { status: 'error', message: 'Internal server error' } },
      ]);
    });
  });
});
