import { AsyncResource } from 'node:async_hooks';
import { EventEmitter, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import {
  Controller,
  Get,
  Injectable,
  Logger,
  UseInterceptors,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
  type PipeTransform,
  type Type,
} from '@nestjs/common';
import {
  ClientProxyFactory,
  MessagePattern,
  Payload,
  Transport,
  type ClientOptions,
  type TcpOptions,
} from '@nestjs/microservices';
import { ExpressAdapter } from '@nestjs/platform-express';
import { Test } from '@nestjs/testing';
import { finalize, lastValueFrom, of, type Observable } from 'rxjs';
import { Locked, LockService, RedisLockModule } from '../../lib/index.js';
import { duringTests, endingAfterEachTest } from '../support/during-tests.js';
import { freePort } from '../support/free-port.js';
import { RedisServer } from '../support/redis-server.js';
import { waitFor } from '../support/wait-for.js';
import { HttpApplication } from './support/http-application.js';
import { interceptorOf } from './support/interceptor.js';

type Method = (this: object, ...args: unknown[]) => Promise<unknown>;

/** As the callback of a pool that was created before all requests. */
const pool = new AsyncResource('pool');

/** A decorator that runs the method in the callback of a pool. */
function InPool(): MethodDecorator {
  return (_target, _key, descriptor: PropertyDescriptor) => {
    const original = descriptor.value as Method;
    const wrapper: Method = function (...args) {
      return new Promise((resolve, reject) => {
        pool.runInAsyncScope(() => void Reflect.apply(original, this, args).then(resolve, reject));
      });
    };
    for (const key of Reflect.getMetadataKeys(original) as unknown[])
      Reflect.defineMetadata(key, Reflect.getMetadata(key, original), wrapper);
    descriptor.value = wrapper;
  };
}

/** A decorator that answers from a cache: it calls the method once. */
function Cached(): MethodDecorator {
  return (_target, _key, descriptor: PropertyDescriptor) => {
    const original = descriptor.value as Method;
    let result: Promise<unknown> | undefined;
    const wrapper: Method = function (...args) {
      return (result ??= Reflect.apply(original, this, args));
    };
    for (const key of Reflect.getMetadataKeys(original) as unknown[])
      Reflect.defineMetadata(key, Reflect.getMetadata(key, original), wrapper);
    descriptor.value = wrapper;
  };
}

@Injectable()
class CacheInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, _next: CallHandler): Observable<unknown> {
    return of('cached');
  }
}

function controllers() {
  @Controller()
  class PoolController {
    @Get('lost')
    @InPool()
    @Locked('lost')
    async lost(): Promise<string> {
      return 'done';
    }

    @Get('kept')
    @Locked('kept')
    @InPool()
    async kept(): Promise<string> {
      return 'done';
    }
  }

  @Controller()
  class CachingController {
    @Get('intercepted')
    @UseInterceptors(CacheInterceptor)
    @Locked('cached')
    async intercepted(): Promise<string> {
      return 'done';
    }

    @Get('decorated')
    @Cached()
    @Locked('cached')
    async decorated(): Promise<string> {
      return 'done';
    }

    @Get('refused')
    @Locked('cached:<0>')
    async refused(_id: string): Promise<string> {
      return 'done';
    }

    @Get('waiting')
    @UseInterceptors(EndInterceptor)
    @Locked((id?: string) => `waiting:${id ?? 'request'}`, { wait: 60_000 })
    async waiting(_id?: string): Promise<string> {
      return 'done';
    }

    @Get('calling')
    @Locked('calling')
    async calling(): Promise<string> {
      return this.refused('7');
    }
  }

  return { PoolController, CachingController };
}

const gate = new EventEmitter();

/** Keeps a request before its handler until the gate opens. */
class GatePipe implements PipeTransform {
  async transform(value: unknown): Promise<unknown> {
    gate.emit('arrived');
    await once(gate, 'open');
    return value;
  }
}

/** Tells that a request has ended for all interceptors. */
const EndInterceptor = interceptorOf((next) =>
  next.handle().pipe(finalize(() => setImmediate(() => gate.emit('ended')))),
);

it('a locked handler that is called after the end of its application gets no warning', async () => {
  @Controller()
  class LateController {
    @MessagePattern('late')
    @UseInterceptors(EndInterceptor)
    @Locked('late')
    async late(@Payload(GatePipe) value: string): Promise<string> {
      return value;
    }
  }
  const tcp: TcpOptions = {
    transport: Transport.TCP,
    options: { host: '127.0.0.1', port: await freePort() },
  };
  const module = await Test.createTestingModule({
    imports: [RedisLockModule.forRoot({ connection: 'memory' })],
    controllers: [LateController],
  }).compile();
  const app = module.createNestMicroservice({ ...tcp, logger: false });
  await app.listen();
  const warn = jest.spyOn(Logger, 'warn').mockReturnValue();
  const client = ClientProxyFactory.create(tcp as ClientOptions);
  const arrived = once(gate, 'arrived');
  const replied = lastValueFrom(client.send('late', {})).catch(() => undefined);
  await arrived;
  await app.close();
  const ended = once(gate, 'ended');
  gate.emit('open');
  await ended;
  client.close();
  await replied;

  const warnings = [...warn.mock.calls];
  warn.mockRestore();
  // The refused call itself is one line.
  expect(warnings).toEqual([
    [
      'The application is shutting down and takes no more calls for lock "late". Repeat the call on another instance.',
      'RedisLock',
    ],
  ]);
});

describe('a locked handler', () => {
  const server = duringTests(() => RedisServer.start());
  const closing = endingAfterEachTest();
  let app: HttpApplication;
  let warn: jest.SpiedFunction<typeof Logger.warn>;

  afterEach(() => warn.mockRestore());

  async function start(type: Type): Promise<void> {
    const imports = [RedisLockModule.forRoot({ connection: server.url })];
    const metadata = { imports, controllers: [type], providers: [CacheInterceptor] };
    app = closing(await HttpApplication.start(new ExpressAdapter(), metadata));
    warn = jest.spyOn(Logger, 'warn').mockReturnValue();
  }

  it('whose call does not find its request gets one warning for its method', async () => {
    await start(controllers().PoolController);
    for (const path of ['lost', 'lost', 'kept'])
      expect(await (await app.get(`/${path}`)).text()).toBe('done');
    expect(warn.mock.calls).toEqual([
      [expect.stringMatching(/^PoolController\.lost .*async context.*AsyncResource/s), 'RedisLock'],
    ]);
  });

  it('gets no warning if its reply comes from a cache, or if it is called by other code', async () => {
    const { CachingController } = controllers();
    await start(CachingController);
    const instance = app.nest.get(CachingController);
    for (const path of ['intercepted', 'decorated', 'decorated', 'refused', 'calling']) {
      const response = app.get(`/${path}`);
      await Promise.all([instance.intercepted(), instance.calling(), delay(5)]);
      await response;
    }
    expect(warn.mock.calls.filter(([message]) => String(message).includes('async context'))).toEqual([]);
  });

  it('gets no warning if other code calls it while a request waits whose client leaves', async () => {
    const { CachingController } = controllers();
    await start(CachingController);
    const locks = app.nest.get(LockService);
    await using _ = await locks.acquire('waiting:request');
    const client = new AbortController();
    const ended = once(gate, 'ended');
    const response = app.get('/waiting', { signal: client.signal });
    await waitFor(() => locks.holds()[0]?.waiting === 1);
    await app.nest.get(CachingController).waiting('other');
    client.abort();
    await expect(response).rejects.toThrow('abort');
    await ended;
    expect(warn.mock.calls).toEqual([]);
  });
});
