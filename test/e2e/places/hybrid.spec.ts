import {
  Controller,
  Get,
  Injectable,
  Logger,
  Param,
  UseGuards,
  type CanActivate,
  type INestApplication,
} from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import {
  ClientProxyFactory,
  MessagePattern,
  Payload,
  Transport,
  type ClientOptions,
  type TcpOptions,
} from '@nestjs/microservices';
import { firstValueFrom } from 'rxjs';
import { Locked, LockExceptionFilter, LockService, RedisLockModule } from '../../../lib/index.js';
import { duringTests } from '../../support/during-tests.js';
import { freePort } from '../../support/free-port.js';
import { RedisServer } from '../../support/redis-server.js';
import { HttpApplication, platforms } from '../support/http-application.js';
import { CriticalSection } from './support/critical-section.js';

@Injectable()
class Stock {
  constructor(private readonly section: CriticalSection) {}

  @Locked('stock:<0>')
  async reserve(_sku: string): Promise<number> {
    return this.section.run();
  }

  @Locked('stock:<0>', { wait: 0 })
  async attempt(_sku: string): Promise<number> {
    return this.section.run();
  }
}

@Injectable()
class StockGuard implements CanActivate {
  constructor(private readonly stock: Stock) {}

  async canActivate(): Promise<boolean> {
    return (await this.stock.attempt('a')) > 0;
  }
}

/** Has no locked method of its own. */
@Controller()
class StockController {
  constructor(private readonly stock: Stock) {}

  @Get('reserve/:sku')
  @MessagePattern('reserve')
  reserve(@Param('sku') sku: string | undefined, @Payload() message?: string): Promise<number> {
    return this.stock.reserve(sku ?? message ?? '');
  }

  @Get('attempt/:sku')
  attempt(@Param('sku') sku: string): Promise<number> {
    return this.stock.attempt(sku);
  }

  @MessagePattern('attempt')
  attemptMessage(@Payload() sku: string): Promise<number> {
    return this.stock.attempt(sku);
  }

  @Get('guarded')
  @UseGuards(StockGuard)
  guarded(): string {
    return 'passed';
  }
}

describe.each(platforms)('a hybrid application on %s and TCP', (_name, adapter) => {
  const server = duringTests(() => RedisServer.start());
  let tcp: TcpOptions;
  const app = duringTests(async () => {
    const port = await freePort();
    tcp = { transport: Transport.TCP, options: { host: '127.0.0.1', port } };
    const filter = { provide: APP_FILTER, useClass: LockExceptionFilter };
    const metadata = {
      imports: [RedisLockModule.forRoot({ connection: server.url })],
      controllers: [StockController],
      providers: [Stock, StockGuard, CriticalSection, filter],
    };
    const configure = (nest: INestApplication) =>
      void nest.connectMicroservice(tcp, { inheritAppConfig: true });
    const application = await HttpApplication.start(adapter(), metadata, { configure });
    await application.nest.startAllMicroservices();
    return application;
  });
  const client = duringTests(async () => ClientProxyFactory.create(tcp as ClientOptions));
  const error = jest.spyOn(Logger.prototype, 'error').mockImplementation();

  afterAll(() => error.mockRestore());

  it('excludes requests and messages from each other', async () => {
    const section = app.nest.get(CriticalSection);
    await Promise.all([
      ...[1, 2, 3].map(() => app.get('/reserve/a')),
      ...[1, 2, 3].map(() => firstValueFrom(client.send('reserve', 'a'))),
    ]);
    expect(section).toMatchObject({ runs: 6, most: 1 });
  });

  describe('with LockExceptionFilter for all of it', () => {
    it.each(['/attempt/a', '/guarded'])('answers %s with the status of the lock error', async (path) => {
      await using _ = await app.nest.get(LockService).acquire('stock:a');
      const response = await app.get(path);
      expect(response.status).toBe(423);
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      expect(await response.json()).toEqual({
        statusCode: 423,
        message: 'The resource is in use, try again later',
        error: 'Locked',
      });
    });

    it('answers a message with the code of the lock error', async () => {
      await using _ = await app.nest.get(LockService).acquire('stock:a');
      const refused = await firstValueFrom(client.send('attempt', 'a')).catch((caught: unknown) => caught);
      expect(refused).toMatchObject({ status: 'error', code: 'LOCK_TIMEOUT' });
    });

    it('logs no error', () => {
      expect(error).not.toHaveBeenCalled();
    });
  });
});
