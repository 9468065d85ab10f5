import { Readable } from 'node:stream';
import {
  ConflictException,
  Controller,
  Get,
  Injectable,
  Req,
  StreamableFile,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { of, type Observable } from 'rxjs';
import { Locked, LockService, RedisLockModule, type Lock } from '../../lib/index.js';
import { untilCollected } from '../support/collect-garbage.js';
import { HttpApplication, platforms } from './support/http-application.js';

const timers: NodeJS.Timeout[] = [];
const requests: WeakRef<object>[] = [];

/** Sets a timer that outlives the request, as a cache or an ORM does. */
function inAnHour(): void {
  timers.push(setTimeout(() => undefined, 3_600_000).unref());
}

function handle(request: object): void {
  requests.push(new WeakRef(request));
  inAnHour();
}

@Injectable()
class TimerInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    inAnHour();
    return next.handle();
  }
}

@Controller()
class OrdersController {
  constructor(private readonly locks: LockService) {}

  @Get('plain')
  plain(@Req() request: object): string {
    handle(request);
    return 'done';
  }

  @Get('failing')
  failing(@Req() request: object): never {
    handle(request);
    throw new ConflictException();
  }

  @Get('stream')
  stream(@Req() request: object): Observable<string> {
    handle(request);
    return of('a', 'b');
  }

  @Get('file')
  file(@Req() request: object): StreamableFile {
    handle(request);
    return new StreamableFile(Readable.from(['content']));
  }

  @Get('locked')
  @Locked('order')
  async locked(@Req() request: object): Promise<string> {
    handle(request);
    return 'done';
  }

  @Get('locked-stream')
  @Locked('order')
  lockedStream(@Req() request: object): Observable<string> {
    handle(request);
    return of('a', 'b');
  }

  @Get('refused')
  async refused(@Req() request: object): Promise<void> {
    handle(request);
    await this.locks.acquire('taken', { wait: 0 });
  }

  @Get('outlived')
  async outlived(@Req() request: object): Promise<string> {
    handle(request);
    void this.locks.using('background', async () => inAnHour());
    return 'done';
  }
}

const ROUTES = ['plain', 'failing', 'stream', 'file', 'locked', 'locked-stream', 'refused', 'outlived'];

describe.each(platforms)('On %s, a timer that a request has set', (_, adapter) => {
  let app: HttpApplication;
  let taken: Lock;

  beforeAll(async () => {
    app = await HttpApplication.start(adapter(), {
      imports: [RedisLockModule.forRoot({ connection: 'memory' })],
      controllers: [OrdersController],
      providers: [{ provide: APP_INTERCEPTOR, useClass: TimerInterceptor }],
    });
    taken = await app.nest.get(LockService).acquire('taken');
  });
  afterEach(() => {
    timers.splice(0).forEach((timer) => clearTimeout(timer));
    requests.length = 0;
  });
  afterAll(async () => {
    await taken.release();
    await app.stop();
  });

  it.each(ROUTES)('does not keep the request of the route "%s"', async (route) => {
    // While a connection is open, NestJS 12 keeps its first request for a file, with either adapter.
    for (let i = 0; i < 2; i++)
      await (await app.get(`/${route}`, { headers: { connection: 'close' } })).text();

    expect(requests).toHaveLength(2);
    await untilCollected(requests);
  });
});
