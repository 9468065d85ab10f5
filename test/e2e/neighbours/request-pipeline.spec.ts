import {
  Body,
  Catch,
  Controller,
  Get,
  HttpException,
  Injectable,
  Param,
  Post,
  UseFilters,
  UseGuards,
  UseInterceptors,
  ValidationPipe,
  type ArgumentsHost,
  type CanActivate,
  type ExceptionFilter,
} from '@nestjs/common';
import { CacheInterceptor, CacheModule } from '@nestjs/cache-manager';
import { HttpAdapterHost } from '@nestjs/core';
import { Throttle, ThrottlerGuard, ThrottlerModule } from '@nestjs/throttler';
import { IsNotEmpty, IsString } from 'class-validator';
import { isLockError, Locked, LockService, LockTimeoutError, RedisLockModule } from '../../../lib/index.js';
import { duringTests } from '../../support/during-tests.js';
import { RedisServer } from '../../support/redis-server.js';
import { HttpApplication, platforms } from '../support/http-application.js';

class Order {
  @IsString()
  @IsNotEmpty()
  sku!: string;
}

@Injectable()
class Refusal implements CanActivate {
  canActivate(): boolean {
    return false;
  }
}

/** What an application has for all its errors. */
@Catch(HttpException)
class HouseStyleFilter implements ExceptionFilter<HttpException> {
  constructor(private readonly adapterHost: HttpAdapterHost) {}

  catch(exception: HttpException, host: ArgumentsHost): void {
    const code = isLockError(exception.cause) ? exception.cause.code : 'OTHER';
    this.adapterHost.httpAdapter.reply(host.switchToHttp().getResponse(), { code }, exception.getStatus());
  }
}

@Controller()
class OrdersController {
  @Post('validated')
  @Locked('order:<0.sku>')
  async validated(@Body(new ValidationPipe({ transform: true })) order: Order): Promise<string> {
    return order.constructor.name;
  }

  @Get('guarded/:sku')
  @UseGuards(Refusal)
  @Locked('order:<0>')
  async guarded(@Param('sku') sku: string): Promise<string> {
    return sku;
  }

  @Get('throttled/:sku')
  @UseGuards(ThrottlerGuard)
  @Throttle({ default: { limit: 1, ttl: 60_000 } })
  @Locked('order:<0>')
  async throttled(@Param('sku') sku: string): Promise<string> {
    return sku;
  }

  @Get('cached/:sku')
  @UseInterceptors(CacheInterceptor)
  @Locked('order:<0>', { wait: 0 })
  async cached(@Param('sku') sku: string): Promise<{ sku: string; at: number }> {
    return { sku, at: performance.now() };
  }

  @Get('filtered/:sku')
  @UseFilters(HouseStyleFilter)
  @Locked('order:<0>', { wait: 0 })
  async filtered(@Param('sku') sku: string): Promise<string> {
    return sku;
  }
}

describe.each(platforms)('a locked route on %s beside other parts of the pipeline', (_name, adapter) => {
  const server = duringTests(() => RedisServer.start());
  const app = duringTests(() =>
    HttpApplication.start(adapter(), {
      imports: [
        RedisLockModule.forRoot({ connection: server.url }),
        CacheModule.register(),
        ThrottlerModule.forRoot([{ limit: 100, ttl: 60_000 }]),
      ],
      controllers: [OrdersController],
    }),
  );
  let locks: LockService;
  let acquire: jest.SpiedFunction<LockService['acquire']>;

  beforeEach(() => {
    locks = app.locks;
    acquire = jest.spyOn(locks, 'acquire').mockClear();
  });

  it('validates with class-validator before it requests the lock, and gets the instance', async () => {
    const refused = await app.post('/validated', { sku: '' });
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({ message: ['sku should not be empty'] });
    expect(acquire).not.toHaveBeenCalled();
    const accepted = await app.post('/validated', { sku: 'book' });
    expect(await accepted.text()).toBe('Order');
    expect(acquire).toHaveBeenCalledWith(['order:book'], expect.anything());
  });

  it('requests no lock when a guard rejects', async () => {
    expect((await app.get('/guarded/book')).status).toBe(403);
    expect(acquire).not.toHaveBeenCalled();
  });

  it('requests no lock when @nestjs/throttler rejects', async () => {
    expect((await app.get('/throttled/book')).status).toBe(200);
    expect((await app.get('/throttled/book')).status).toBe(429);
    expect(acquire).toHaveBeenCalledTimes(1);
  });

  it('answers from the cache of @nestjs/cache-manager without the lock, and never caches a refusal', async () => {
    const lock = await locks.acquire('order:cached');
    expect((await app.get('/cached/cached')).status).toBe(423);
    await lock.release();
    const first = await app.get('/cached/cached');
    expect(first.status).toBe(200);
    await using _ = await locks.acquire('order:cached');
    const second = await app.get('/cached/cached');
    expect(await second.json()).toEqual(await first.json());
  });

  it('lets filters of the application answer its lock errors', async () => {
    await using _ = await locks.acquire('order:book');
    const response = await app.get('/filtered/book');
    expect(response.status).toBe(423);
    expect(await response.json()).toEqual({ code: 'LOCK_TIMEOUT' });
  });
});

describe.each(platforms)('a locked route on %s with http: false', (_name, adapter) => {
  @Catch(LockTimeoutError)
  class LockTimeoutFilter implements ExceptionFilter<LockTimeoutError> {
    constructor(private readonly adapterHost: HttpAdapterHost) {}

    catch(error: LockTimeoutError, host: ArgumentsHost): void {
      const body = { busyFor: error.holder?.remaining };
      this.adapterHost.httpAdapter.reply(host.switchToHttp().getResponse(), body, 409);
    }
  }

  @Controller()
  @UseFilters(LockTimeoutFilter)
  class ReportsController {
    @Get(':id')
    @Locked('report:<0>', { wait: 0 })
    async build(@Param('id') id: string): Promise<string> {
      return id;
    }
  }

  it('leaves lock errors to filters that catch them', async () => {
    await using server = await RedisServer.start();
    const app = await HttpApplication.start(adapter(), {
      imports: [RedisLockModule.forRoot({ connection: server.url, http: false })],
      controllers: [ReportsController],
    });
    const lock = await app.nest.get(LockService).acquire('report:7');
    const response = await app.get('/7');
    expect(response.status).toBe(409);
    expect(await response.json()).toEqual({ busyFor: expect.any(Number) });
    await lock.release();
    await app.stop();
  });
});
