import {
  Catch,
  Controller,
  createParamDecorator,
  Get,
  Injectable,
  Module,
  UseFilters,
  UseGuards,
  UseInterceptors,
  type ArgumentsHost,
  type CallHandler,
  type CanActivate,
  type ExceptionFilter,
  type ExecutionContext,
  type MiddlewareConsumer,
  type NestInterceptor,
  type NestMiddleware,
  type PipeTransform,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { from, type Observable } from 'rxjs';
import { Locked, RedisLockModule } from '../../../lib/index.js';
import { duringTests } from '../../support/during-tests.js';
import { HttpApplication, platforms } from '../support/http-application.js';

let running = 0;
let most = 0;
let runs = 0;

async function work<T>(value: T): Promise<T> {
  running += 1;
  runs += 1;
  most = Math.max(most, running);
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => void setImmediate(resolve));
  running -= 1;
  return value;
}

@Injectable()
class Guard implements CanActivate {
  @Locked('guard')
  async canActivate(_context: ExecutionContext): Promise<boolean> {
    return work(true);
  }
}

@Injectable()
class Pipe implements PipeTransform {
  @Locked('pipe:<0>')
  async transform(value: string): Promise<string> {
    return work(value);
  }
}

@Injectable()
class Interceptor implements NestInterceptor {
  @Locked('interceptor')
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle();
  }
}

@Catch(TypeError)
class Filter implements ExceptionFilter {
  constructor(private readonly host: HttpAdapterHost) {}

  @Locked('filter')
  async catch(_error: TypeError, host: ArgumentsHost): Promise<void> {
    await work(undefined);
    this.host.httpAdapter.reply(host.switchToHttp().getResponse(), 'caught', 200);
  }
}

@Injectable()
class Middleware implements NestMiddleware {
  @Locked('middleware')
  async use(_request: unknown, _response: unknown, next: () => void): Promise<void> {
    await work(undefined);
    next();
  }
}

const Value = createParamDecorator(() => 'value');

@Controller()
class Routes {
  @Get('guard')
  @UseGuards(Guard)
  guard(): string {
    return 'guard';
  }

  @Get('pipe')
  pipe(@Value(Pipe) value: string): string {
    return value;
  }

  @Get('interceptor')
  @UseInterceptors(Interceptor)
  interceptor(): Observable<string> {
    return from(work('interceptor'));
  }

  @Get('interceptor-of-its-name')
  @UseInterceptors(Interceptor)
  @Locked('interceptor')
  async interceptorOfItsName(): Promise<string> {
    return work('handler');
  }

  @Get('filter')
  @UseFilters(Filter)
  filter(): never {
    throw new TypeError('for the filter');
  }

  @Get('filter-of-its-name')
  @UseFilters(Filter)
  @Locked('filter')
  async filterOfItsName(): Promise<never> {
    throw new TypeError('for the filter');
  }

  @Get('middleware')
  middleware(): string {
    return 'middleware';
  }
}

@Module({
  imports: [RedisLockModule.forRoot({ connection: 'memory' })],
  controllers: [Routes],
  providers: [Guard, Pipe, Interceptor, Filter, Middleware],
})
class AppModule {
  configure(consumer: MiddlewareConsumer): void {
    consumer.apply(Middleware).forRoutes('middleware');
  }
}

describe.each(platforms)('locked methods that Nest calls around handlers on %s', (_name, adapter) => {
  const app = duringTests(() => HttpApplication.start(adapter(), { imports: [AppModule] }));

  it.each([
    'guard',
    'pipe',
    'interceptor',
    'interceptor-of-its-name',
    'filter',
    'filter-of-its-name',
    'middleware',
  ])('exclude each other, and release: %s', async (route) => {
    [most, runs] = [0, 0];
    const responses = await Promise.all([1, 2, 3].map(() => app.get(`/${route}`)));

    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect({ most, runs }).toEqual({ most: 1, runs: 3 });
    expect(app.locks.holds()).toEqual([]);
  });
});
