import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { Controller, Get, Injectable, Logger, Param, Res } from '@nestjs/common';
import { listenToLocks } from '../../lib/diagnostics/index.js';
import { Locked, LockService, RedisLockModule, type Lock } from '../../lib/index.js';
import { duringTests } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { waitFor } from '../support/wait-for.js';
import { HttpApplication, platforms } from './support/http-application.js';
import { Gate } from './support/gate.js';
import { Journal } from './support/journal.js';

@Injectable()
class Stock {
  constructor(private readonly journal: Journal) {}

  @Locked('stock')
  async take(): Promise<string> {
    this.journal.write('ran');
    return 'done';
  }

  @Locked('other')
  async prepare(): Promise<void> {
    this.journal.write('prepared');
  }
}

@Controller()
class WaitingController {
  constructor(
    private readonly journal: Journal,
    private readonly gate: Gate,
    private readonly stock: Stock,
    private readonly locks: LockService,
  ) {}

  @Get('using')
  using(): Promise<string> {
    return this.locks.using('stock', () => this.stock.take());
  }

  /** Has a signal of its own, which aborts after `ms`. */
  @Get('signal/:ms')
  signal(@Param('ms') ms: string): Promise<string> {
    const signal = AbortSignal.timeout(Number(ms));
    return this.locks.using('stock', { signal }, () => this.stock.take()).catch(({ name }: Error) => name);
  }

  @Get('second')
  async second(): Promise<string> {
    await this.stock.prepare();
    return this.stock.take();
  }

  @Get('inner')
  inner(): Promise<string> {
    return this.locks.using('outer', () => this.stock.take());
  }

  @Get('background')
  background(): string {
    void this.stock.take();
    return 'started';
  }

  /** Replies before its work, as webhooks do. */
  @Get('acknowledged')
  async acknowledged(@Res() reply: { send(body: string): unknown }): Promise<void> {
    reply.send('accepted');
    await this.stock.take();
  }

  @Get('promise')
  @Locked('stock')
  async promise(): Promise<string> {
    this.journal.write('ran');
    return 'done';
  }

  /** Returns the number of listeners for the end of its reply. */
  @Get('listeners')
  @Locked('stock')
  async listeners(
    @Res({ passthrough: true }) reply: ServerResponse & { raw?: ServerResponse },
  ): Promise<string> {
    return String((reply.raw ?? reply).listenerCount('close'));
  }

  @Get('slow')
  @Locked('stock')
  async slow(): Promise<string> {
    await this.gate.pass();
    this.journal.write('ran to its end');
    return 'done';
  }
}

// In test/compositions, clients of all transports leave at any time, also of services and below interceptors.
describe.each(platforms)('a client that disconnects on %s', (_name, adapter) => {
  const server = duringTests(() => RedisServer.start());
  let app: HttpApplication;
  let locks: LockService;
  let holder: Lock;
  let lines: readonly string[];
  let logged: jest.SpiedFunction<Logger['error']>;
  let waiting = 0;
  let stopListening: () => void;

  beforeAll(async () => {
    stopListening = listenToLocks({
      'nest-redis-lock:queue:length': ({ name: lock, length }) => {
        if (lock === 'stock') waiting = length;
      },
    });
    logged = jest.spyOn(Logger.prototype, 'error').mockImplementation();
    app = await HttpApplication.start(adapter(), {
      imports: [RedisLockModule.forRoot({ connection: server.url })],
      controllers: [WaitingController],
      providers: [Journal, Gate, Stock],
    });
    locks = app.nest.get(LockService);
    lines = app.nest.get(Journal).lines;
  });
  beforeEach(async () => {
    app.nest.get(Journal).lines.length = 0;
    holder = await locks.acquire('stock');
  });
  afterEach(async () => {
    await holder.release();
  });
  afterAll(async () => {
    stopListening();
    await app.stop();
    logged.mockRestore();
  });

  /** Clients that ask, wait, and have gone. */
  async function leave(path: string, clients: number): Promise<void> {
    const client = new AbortController();
    const responses = Array.from({ length: clients }, () => app.get(path, { signal: client.signal }));
    await waitFor(() => waiting === clients, { that: 'all of them to wait' });
    client.abort();
    await Promise.allSettled(responses);
  }

  it.each(['/promise', '/using', '/signal/60000'])(
    'while its request waits gives up its place, and no handler runs for it: %s',
    async (path) => {
      await leave(path, 20);
      await waitFor(() => waiting === 0, { that: 'nobody to wait any more' });
      await holder.release();
      expect(await (await app.get('/promise')).text()).toBe('done');
      expect(lines).toEqual(['ran']);
      expect(logged).not.toHaveBeenCalled();
    },
  );

  it.each([
    ['after a lock that it has released', '/second'],
    ['nested in a lock that it holds', '/inner'],
  ])('while its request waits %s lets the work run on', async (_where, path) => {
    await leave(path, 1);
    await delay(60);
    expect(waiting).toBe(1);
    await holder.release();
    await waitFor(() => lines.includes('ran'));
  });

  it('leaves the signal option of a call in effect, which ends the wait before the client disconnects', async () => {
    expect(await (await app.get('/signal/50')).text()).toBe('TimeoutError');
    expect(waiting).toBe(0);
  });

  it('with its reply continues a wait that the handler has not awaited', async () => {
    expect(await (await app.get('/background')).text()).toBe('started');
    await delay(60);
    await holder.release();
    await waitFor(() => lines.includes('ran'));
  });

  it('with its reply continues a wait of a handler that has replied itself', async () => {
    expect(await (await app.get('/acknowledged')).text()).toBe('accepted');
    await waitFor(() => waiting === 1);
    await delay(60);
    await holder.release();
    await waitFor(() => lines.includes('ran'));
  });

  it('is also detected before its request waits for long', async () => {
    const client = new AbortController();
    const response = app.get('/promise', { signal: client.signal });
    await waitFor(() => waiting === 1, { interval: 1 });
    client.abort();
    await expect(response).rejects.toThrow('abort');
    await waitFor(() => waiting === 0, { that: 'nobody to wait any more' });
  });

  it('is no longer listened for once the request has acquired its lock', async () => {
    const listening = app.get('/listeners');
    await waitFor(() => waiting === 1);
    await delay(60);
    await holder.release();
    const afterWait = await (await listening).text();

    expect(await (await app.get('/listeners')).text()).toBe(afterWait);
  });

  it('lets the handler continue under its lock if the request has acquired it', async () => {
    await holder.release();
    const gate = app.nest.get(Gate);
    const { arrived } = gate;
    const client = new AbortController();
    const response = app.get('/slow', { signal: client.signal });
    await waitFor(() => gate.arrived > arrived);
    client.abort();
    await expect(response).rejects.toThrow('abort');
    await delay(50);
    expect(await locks.tryAcquire('stock')).toBeUndefined();
    gate.open();
    await waitFor(() => lines.includes('ran to its end'));
    await (await locks.acquire('stock')).release();
  });
});
