import { once } from 'node:events';
import { join } from 'node:path';
import {
  credentials,
  loadPackageDefinition,
  status,
  type CallOptions,
  type ClientDuplexStream,
  type ClientReadableStream,
  type ClientUnaryCall,
  type ClientWritableStream,
  type ServerDuplexStream,
  type ServiceClientConstructor,
  type ServiceError,
} from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { Controller, Injectable, Logger, UseFilters, type INestMicroservice } from '@nestjs/common';
import {
  GrpcMethod,
  GrpcStreamCall,
  GrpcStreamMethod,
  Transport,
  type GrpcOptions,
} from '@nestjs/microservices';
import { Test, type TestingModule } from '@nestjs/testing';
import { from, map, Observable, reduce } from 'rxjs';
import {
  Locked,
  LockClosedError,
  LockConfigError,
  LockDeadlockError,
  type LockError,
  LockExceptionFilter,
  LockKeyError,
  LockLostError,
  LockQueueFullError,
  LockService,
  LockTimeoutError,
  LockUnavailableError,
  RedisLockModule,
} from '../../../lib/index.js';
import { duringTests } from '../../support/during-tests.js';
import { freePort } from '../../support/free-port.js';
import { RedisServer } from '../../support/redis-server.js';
import { waitFor } from '../../support/wait-for.js';
import { Journal } from '../support/journal.js';
import { otherApplication } from '../support/other-application.js';

interface Order {
  readonly sku: string;
  readonly pieces: number;
}
interface Reply {
  readonly pieces: number;
}
type Chat = ServerDuplexStream<Order, Reply>;

const keys = ['order:1'];
const FAILURES: readonly LockError[] = [
  new LockKeyError('no key', { keys }),
  new LockTimeoutError('taken', { keys, waited: 2_000 }),
  new LockDeadlockError('cycle', { keys, cycle: [] }),
  new LockQueueFullError('full', { keys }),
  new LockUnavailableError('no answer', { keys, cause: undefined }),
  new LockLostError('lost', { keys, reason: 'expired' }),
  new LockClosedError('closed', { keys }),
  new LockConfigError('wrong', { keys }),
];

@Injectable()
class StockService {
  constructor(private readonly journal: Journal) {}

  @Locked('stock:<0>', { wait: 60_000 })
  async reserve(_sku: string): Promise<Reply> {
    this.journal.write('ran');
    return { pieces: 1 };
  }

  @Locked('stock:1', { wait: 60_000 })
  async chat(orders: Observable<Order>): Promise<Observable<Reply>> {
    return orders.pipe(map(({ pieces }) => ({ pieces })));
  }
}

@Controller()
@UseFilters(LockExceptionFilter)
class StockController {
  constructor(
    private readonly stock: StockService,
    private readonly journal: Journal,
  ) {}

  @GrpcMethod('Stock')
  @Locked('stock:<0.sku>', { wait: 60_000 })
  async reserve(_order: Order): Promise<Reply> {
    this.journal.write('ran');
    return { pieces: 1 };
  }

  @GrpcMethod('Stock')
  @Locked('stock:<0.sku>', { wait: 0 })
  async attempt(_order: Order): Promise<Reply> {
    return { pieces: 1 };
  }

  @GrpcMethod('Stock')
  async fail({ pieces }: Order): Promise<Reply> {
    throw FAILURES[pieces];
  }

  @GrpcMethod('Stock')
  reserveInService({ sku }: Order): Promise<Reply> {
    return this.stock.reserve(sku);
  }

  @GrpcMethod('Stock')
  @Locked('stock:<0.sku>', { wait: 0 })
  watch({ pieces }: Order): Observable<Reply> {
    return from(Array.from({ length: pieces }, (_, i) => ({ pieces: i + 1 })));
  }

  @GrpcStreamMethod('Stock')
  @Locked('stock:1', { wait: 60_000 })
  total(orders: Observable<Order>): Observable<Reply> {
    return orders.pipe(
      reduce((total, { pieces }) => total + pieces, 0),
      map((pieces) => ({ pieces })),
    );
  }

  @GrpcStreamMethod('Stock')
  @Locked('stock:1', { wait: 60_000 })
  chat(orders: Observable<Order>): Observable<Reply> {
    return orders.pipe(map(({ pieces }) => ({ pieces })));
  }

  @GrpcStreamMethod('Stock')
  chatInService(orders: Observable<Order>): Promise<Observable<Reply>> {
    return this.stock.chat(orders);
  }

  @GrpcStreamCall('Stock')
  @Locked('stock:1', { wait: 60_000 })
  async chatByCall(call: Chat): Promise<void> {
    call.on('data', ({ pieces }: Order) => call.write({ pieces }));
    await once(call, 'end');
    call.end();
  }
}

const PROTO = join(__dirname, 'support/stock.proto');
const LOADER = { keepCase: true };

/** A client that was generated from the proto file. */
type StockClient = InstanceType<ServiceClientConstructor> &
  Record<'reserve' | 'attempt' | 'fail' | 'reserveInService', Unary> &
  Record<'chat' | 'chatInService' | 'chatByCall', () => ClientDuplexStream<Order, Reply>> & {
    watch(order: Order): ClientReadableStream<Reply>;
    total(done: Done): ClientWritableStream<Order>;
  };
type Done = (error: ServiceError | null, reply?: Reply) => void;
type Unary = (order: Partial<Order>, options: CallOptions, done: Done) => ClientUnaryCall;

describe('a gRPC method', () => {
  const server = duringTests(() => RedisServer.start());
  let app: INestMicroservice;
  let client: StockClient;
  let other: TestingModule;
  let holder: LockService;
  let journal: Journal;

  beforeAll(async () => {
    other = await otherApplication(server.url);
    holder = other.get(LockService);
    const url = `127.0.0.1:${await freePort()}`;
    const options = { url, package: 'stock', protoPath: PROTO, loader: LOADER };
    const testingModule = await Test.createTestingModule({
      imports: [RedisLockModule.forRoot({ connection: server.url })],
      controllers: [StockController],
      providers: [StockService, Journal],
    }).compile();
    app = testingModule.createNestMicroservice<GrpcOptions>({
      transport: Transport.GRPC,
      options,
      logger: false,
    });
    await app.listen();
    journal = app.get(Journal);
    const { stock } = loadPackageDefinition(loadSync(PROTO, LOADER));
    const { Stock } = stock as unknown as { Stock: ServiceClientConstructor };
    client = new Stock(url, credentials.createInsecure()) as StockClient;
  });
  afterEach(() => {
    journal.lines.length = 0;
  });
  afterAll(async () => {
    client.close();
    await app.close();
    await other.close();
  });

  const isWaiting = (count: number): Promise<unknown> =>
    waitFor(async () => (await holder.query('stock:1')).pending.length === count, {
      that: `${count} instances to wait`,
    });

  function call(
    method: 'reserve' | 'attempt' | 'fail' | 'reserveInService',
    order: Partial<Order>,
    options = {},
  ) {
    let running: ClientUnaryCall | undefined;
    const reply = new Promise<Reply>((resolve, reject) => {
      running = client[method](order, options, (error, value) => (value ? resolve(value) : reject(error)));
    });
    return { reply, cancel: () => running?.cancel() };
  }

  it('holds its lock while it runs', async () => {
    await expect(call('reserve', { sku: '1' }).reply).resolves.toEqual({ pieces: 1 });
    expect(journal.lines).toEqual(['ran']);
  });

  it.each([
    ['LOCK_KEY', status.INVALID_ARGUMENT, undefined],
    ['LOCK_TIMEOUT', status.ABORTED, '2'],
    ['LOCK_DEADLOCK', status.INTERNAL, undefined],
    ['LOCK_QUEUE_FULL', status.RESOURCE_EXHAUSTED, '1'],
    ['LOCK_UNAVAILABLE', status.UNAVAILABLE, undefined],
    ['LOCK_LOST', status.INTERNAL, undefined],
    ['LOCK_CLOSED', status.UNAVAILABLE, '1'],
    ['LOCK_CONFIG', status.INTERNAL, undefined],
  ])('fails for %s with the status %d', async (code, expected, retryAfter) => {
    const pieces = FAILURES.findIndex((failure) => failure.code === code);
    const error = await call('fail', { pieces }).reply.catch((reason: ServiceError) => reason);

    expect(error).toMatchObject({ code: expected, details: expect.any(String) });
    const trailers = (error as ServiceError).metadata.getMap();
    expect([trailers['lock-code'], trailers['retry-after']]).toEqual([code, retryAfter]);
    expect((error as ServiceError).details).not.toMatch(/order|Controller/);
  });

  it('fails with ABORTED if the lock is taken, as a reply and as a stream', async () => {
    const lock = await holder.acquire('stock:1');
    await expect(call('attempt', { sku: '1' }).reply).rejects.toMatchObject({ code: status.ABORTED });
    const [error] = (await once(client.watch({ sku: '1', pieces: 1 }), 'error')) as [ServiceError];
    await lock.release();

    expect(error.code).toBe(status.ABORTED);
  });

  it('fails with INVALID_ARGUMENT if a part of the key is missing', async () => {
    const warn = jest.spyOn(Logger, 'warn').mockImplementation();
    await expect(call('attempt', {}).reply).rejects.toMatchObject({ code: status.INVALID_ARGUMENT });
    warn.mockRestore();
  });

  it.each(['reserve', 'reserveInService'] as const)(
    'waits no longer after its deadline: %s',
    async (method) => {
      const lock = await holder.acquire('stock:1');
      const { reply } = call(method, { sku: '1' }, { deadline: Date.now() + 300 });
      await expect(reply).rejects.toMatchObject({ code: status.DEADLINE_EXCEEDED });
      await isWaiting(0);
      await lock.release();
      await holder.using('stock:1', () => undefined);

      expect(journal.lines).toEqual([]);
    },
  );

  it.each(['reserve', 'reserveInService'] as const)(
    'waits no longer after it was cancelled: %s',
    async (method) => {
      const lock = await holder.acquire('stock:1');
      const { reply, cancel } = call(method, { sku: '1' });
      await isWaiting(1);
      cancel();
      await expect(reply).rejects.toMatchObject({ code: status.CANCELLED });
      await isWaiting(0);
      await lock.release();
      await holder.using('stock:1', () => undefined);

      expect(journal.lines).toEqual([]);
    },
  );

  it('streams its replies under the lock', async () => {
    const replies = await toArray(client.watch({ sku: '1', pieces: 3 }));
    expect(replies).toEqual([{ pieces: 1 }, { pieces: 2 }, { pieces: 3 }]);
  });

  it.each(['chat', 'chatInService', 'chatByCall'] as const)(
    'receives all messages of a stream in order, those from before the grant too: %s',
    async (method) => {
      const lock = await holder.acquire('stock:1');
      const stream = client[method]();
      for (const pieces of [1, 2, 3]) stream.write({ sku: '1', pieces });
      await isWaiting(1);
      const replies = toArray(stream);
      const more = Array.from({ length: 2_000 }, (_, i) => i + 4);
      for (const pieces of more) stream.write({ sku: '1', pieces });
      await lock.release();
      stream.end();

      expect((await replies).map(({ pieces }) => pieces)).toEqual([1, 2, 3, ...more]);
    },
  );

  it('stops the client of a stream while it waits', async () => {
    const lock = await holder.acquire('stock:1');
    const stream = client.chat();
    const replies = toArray(stream);
    let written = 0;
    const sku = '1'.repeat(10_000);
    // The client may send 64 kB of HTTP/2's window, and buffer the rest of a write.
    const isFull = () => stream.writableLength > 16;
    await isWaiting(1);
    await waitFor(() => {
      stream.write({ sku, pieces: ++written });
      return isFull();
    });
    expect(written).toBeLessThan(200);
    await lock.release();
    stream.end();

    expect(await replies).toHaveLength(written);
  });

  it('ends the wait of a stream that was cancelled', async () => {
    const lock = await holder.acquire('stock:1');
    const stream = client.chat();
    const failed = once(stream, 'error');
    stream.write({ sku: '1', pieces: 1 });
    await isWaiting(1);
    stream.cancel();
    const [error] = (await failed) as [ServiceError];
    await isWaiting(0);
    await lock.release();

    expect(error.code).toBe(status.CANCELLED);
  });

  it('receives a stream of the client', async () => {
    const lock = await holder.acquire('stock:1');
    const reply = new Promise<Reply | undefined>((resolve, reject) => {
      const stream = client.total((error, value) => (error ? reject(error) : resolve(value)));
      for (const pieces of [1, 2, 3]) stream.write({ sku: '1', pieces });
      stream.end();
    });
    await isWaiting(1);
    await lock.release();

    expect(await reply).toEqual({ pieces: 6 });
  });
});

async function toArray(stream: AsyncIterable<Reply>): Promise<readonly Reply[]> {
  const replies: Reply[] = [];
  for await (const reply of stream) replies.push(reply);
  return replies;
}
