import { Controller, Logger, UseFilters, UseInterceptors } from '@nestjs/common';
import {
  ClientProxyFactory,
  EventPattern,
  MessagePattern,
  Payload,
  Transport,
  type ClientOptions,
  type TcpOptions,
  type RedisOptions,
} from '@nestjs/microservices';
import { Test } from '@nestjs/testing';
import { firstValueFrom, interval, lastValueFrom, map, Observable, tap, toArray } from 'rxjs';
import { Locked, LockExceptionFilter, LockService, RedisLockModule } from '../../../lib/index.js';
import { duringEachTest, duringTests } from '../../support/during-tests.js';
import { freePort } from '../../support/free-port.js';
import { RedisServer } from '../../support/redis-server.js';
import { waitFor } from '../../support/wait-for.js';
import { Journal } from '../support/journal.js';
import { TransactionInterceptor } from '../support/transaction.interceptor.js';
import { CriticalSection } from './support/critical-section.js';

@Controller()
@UseFilters(LockExceptionFilter)
class StockController {
  constructor(
    private readonly section: CriticalSection,
    private readonly journal: Journal,
    private readonly locks: LockService,
  ) {}

  @MessagePattern('reserve')
  @UseInterceptors(TransactionInterceptor)
  @Locked('stock:<0.sku>')
  async reserve(@Payload() { sku }: { sku: string }): Promise<string> {
    this.journal.write('reserve');
    await this.section.run();
    return sku;
  }

  @MessagePattern('attempt')
  @Locked('stock:<0.sku>', { wait: 0 })
  async attempt(@Payload() { sku }: { sku: string }): Promise<string> {
    return sku;
  }

  @MessagePattern('watch')
  @Locked('stock:<0>')
  watch(@Payload() sku: string): Observable<boolean> {
    return new Observable<number>((subscriber) => {
      subscriber.next(1);
      subscriber.next(2);
      subscriber.complete();
    }).pipe(map(() => this.locks.current(`stock:${sku}`)?.held === true));
  }

  ticks = 0;

  @MessagePattern('endless')
  @Locked('stock:<0>', { maxHold: 3_000 })
  endless(@Payload() _sku: string): Observable<number> {
    return interval(10).pipe(tap(() => (this.ticks += 1)));
  }

  @EventPattern('reserved')
  @Locked('stock:<0>')
  async onReserved(@Payload() _sku: string): Promise<void> {
    await this.section.run();
  }
}

/** A pipe whose result has an accessor that throws. */
const withoutSku = {
  transform: (): object => ({
    get sku(): string {
      throw new Error('no sku');
    },
  }),
};

@Controller()
class UnfilteredController {
  @MessagePattern('unreadable')
  @Locked('stock:<0.sku>', { wait: 0 })
  async read(@Payload(withoutSku) { sku }: { sku: string }): Promise<string> {
    return sku;
  }

  @MessagePattern('unfiltered')
  @Locked('stock:<0.sku>', { wait: 0 })
  async attempt(@Payload() { sku }: { sku: string }): Promise<string> {
    return sku;
  }
}

const server = duringTests(() => RedisServer.start());

const transports: [name: string, options: () => Promise<TcpOptions | RedisOptions>][] = [
  [
    'TCP',
    async () => {
      const port = await freePort();
      return { transport: Transport.TCP, options: { host: '127.0.0.1', port } };
    },
  ],
  ['Redis', async () => ({ transport: Transport.REDIS, options: { host: server.host, port: server.port } })],
];

/** Over all transports, for a message is logged once in a process. */
const logged: unknown[] = [];

describe.each(transports)('locked message handlers over %s', (_name, transport) => {
  let options: TcpOptions | RedisOptions;
  const app = duringEachTest(async () => {
    options = await transport();
    const testingModule = await Test.createTestingModule({
      imports: [RedisLockModule.forRoot({ connection: server.url })],
      controllers: [StockController, UnfilteredController],
      providers: [CriticalSection, Journal],
    }).compile();
    const microservice = testingModule.createNestMicroservice({ ...options, logger: false });
    await microservice.listen();
    return microservice;
  });
  const client = duringEachTest(async () => ClientProxyFactory.create(options as ClientOptions));

  const ask = (pattern: string, message: unknown): Promise<unknown> =>
    firstValueFrom(client.send(pattern, message));

  it('exclude each other, and release after their interceptors have ended', async () => {
    const answers = await Promise.all([1, 2, 3].map(() => ask('reserve', { sku: 'a' })));
    expect(answers).toEqual(['a', 'a', 'a']);
    expect(app.get(CriticalSection).most).toBe(1);
    expect(app.get(Journal).lines).toEqual([1, 2, 3].flatMap(() => ['reserve', 'commit']));
  });

  it('hold the lock until the last answer of a stream', async () => {
    expect(await lastValueFrom(client.send('watch', 'a').pipe(toArray()))).toEqual([true, true]);
    await waitFor(async () => (await app.get(LockService).query('stock:a')).held.length === 0);
  });

  it('hold the lock of an endless stream until maxHold, for Nest continues it without its client', async () => {
    jest.spyOn(Logger, 'error').mockImplementation();
    const holders = async (): Promise<number> => (await app.get(LockService).query('stock:a')).held.length;
    const controller = app.get(StockController);
    const reading = client.send('endless', 'a').subscribe({ error: () => undefined });
    await waitFor(() => controller.ticks > 0, { that: 'the stream to begin' });
    reading.unsubscribe();
    await client.close();
    const { ticks } = controller;
    await waitFor(() => controller.ticks > ticks + 5, { that: 'the stream to continue' });
    expect(await holders()).toBe(1);
    await waitFor(async () => (await holders()) === 0, { timeout: 10_000, that: 'maxHold to end it' });
    jest.restoreAllMocks();
  });

  it('take turns at events', async () => {
    for (const sku of ['a', 'a', 'a']) await lastValueFrom(client.emit('reserved', sku), { defaultValue: 0 });
    await waitFor(() => app.get(CriticalSection).runs === 3);
    expect(app.get(CriticalSection).most).toBe(1);
  });

  describe('that get no lock', () => {
    beforeEach(() => {
      jest.spyOn(Logger.prototype, 'error').mockImplementation();
    });
    afterEach(() => {
      jest.restoreAllMocks();
    });

    async function refusal(pattern: string, message: unknown): Promise<unknown> {
      await using _ = await app.get(LockService).acquire('stock:a');
      return await ask(pattern, message).catch((error: unknown) => error);
    }

    it('answer with the code of the lock error, and log nothing', async () => {
      expect(await refusal('attempt', { sku: 'a' })).toEqual({
        status: 'error',
        code: 'LOCK_TIMEOUT',
        message: 'The resource is in use, try again later',
        retryAfter: 1,
      });
      expect(Logger.prototype.error).not.toHaveBeenCalled();
    });

    it('answer a message without the value that the key needs, and log why', async () => {
      const warn = jest.spyOn(Logger, 'warn').mockImplementation();
      expect(await ask('reserve', {}).catch((error: unknown) => error)).toEqual({
        status: 'error',
        code: 'LOCK_KEY',
        message: 'The request lacks a value that it needs, or has an unusable one',
      });
      await ask('reserve', {}).catch(() => undefined);
      logged.push(...warn.mock.calls);
      expect(logged).toEqual([
        [expect.stringMatching(/reserve: <0\.sku> of key template .* is undefined; /), 'RedisLock'],
      ]);
    });

    it('answer also without LockExceptionFilter, but log it, because an event has no caller', async () => {
      const warn = jest.spyOn(Logger, 'warn').mockImplementation();
      warn.mockClear();
      expect(await refusal('unfiltered', { sku: 'a' })).toMatchObject({
        status: 'error',
        code: 'LOCK_TIMEOUT',
      });
      // One line without a stack, which would lead to no defect.
      expect(warn.mock.calls).toEqual([[expect.stringMatching(/Held by this process/), 'RedisLock']]);
    });

    it('log each message without the value that the key needs once, without LockExceptionFilter', async () => {
      const warn = jest.spyOn(Logger, 'warn').mockImplementation();
      const error = jest.spyOn(Logger, 'error').mockImplementation();
      warn.mockClear();
      error.mockClear();
      for (const pattern of ['unfiltered', 'unfiltered', 'unreadable'])
        expect(await refusal(pattern, {})).toMatchObject({ code: 'LOCK_KEY' });
      const lines = ['<0.sku> of key template', '<0.sku> of key template', 'Error: no sku'];
      expect(warn).not.toHaveBeenCalled();
      expect(error.mock.calls).toEqual(
        lines.map((line) => [expect.stringContaining(line), expect.any(String), 'RedisLock']),
      );
    });
  });
});
