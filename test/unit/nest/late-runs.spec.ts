import {
  Controller,
  Get,
  Injectable,
  Query,
  Scope,
  UseInterceptors,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
  type PipeTransform,
  type Type,
} from '@nestjs/common';
import { catchError, defer, from, lastValueFrom, of, type Observable } from 'rxjs';
import { Locked, LockService, Once, RedisLockModule } from '../../../lib/index.js';
import { Gate } from '../../e2e/support/gate.js';
import { HttpApplication, platforms } from '../../e2e/support/http-application.js';
import { interceptorOf } from '../../e2e/support/interceptor.js';
import { Journal } from '../../e2e/support/journal.js';
import { TimeoutInterceptor, timeOut } from '../../e2e/support/timeout.interceptor.js';
import { waitFor } from '../../support/wait-for.js';

/** Replies itself when the request takes too long. */
@Injectable()
class FallbackInterceptor extends TimeoutInterceptor {
  override intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return super.intercept(context, next).pipe(catchError(() => of('late')));
  }
}

/** Awaits the handler, and once more if it fails. Nest cannot unsubscribe from it. */
const CommittingRetryInterceptor = interceptorOf((next, journal) => {
  const attempt = async (): Promise<unknown> => {
    const value = await lastValueFrom(next.handle());
    journal.write('commit');
    return value;
  };
  const refused = (error: Error): void => journal.write(error.message);
  return from(attempt().catch(attempt).catch(refused));
}, Journal);

/** Keeps the second attempt before its handler until the gate opens. */
@Injectable()
class SecondAttemptPipe implements PipeTransform {
  private attempts = 0;

  constructor(private readonly gate: Gate) {}

  async transform(value: object): Promise<object> {
    this.attempts += 1;
    if (this.attempts === 2) await this.gate.pass();
    return value;
  }
}

@Injectable()
class Base {
  constructor(
    protected readonly gate: Gate,
    protected readonly journal: Journal,
  ) {}

  @Locked('order')
  async override(): Promise<string> {
    return this.run();
  }

  protected async run(): Promise<never> {
    this.journal.write('run');
    await this.gate.pass();
    throw new Error('deadlock found when trying to get lock');
  }
}

function controllerBelow(outer: Type<NestInterceptor>, scope: Scope, isDurable: boolean): Type {
  @Controller({ scope, durable: isDurable })
  @UseInterceptors(outer, CommittingRetryInterceptor)
  class OrdersController extends Base {
    @Get('promise')
    @Locked('order')
    async promise(): Promise<string> {
      return this.run();
    }

    @Get('observable')
    @Locked('order')
    observable(): Observable<string> {
      return defer(() => this.run());
    }

    @Get('promised-observable')
    @Locked('order')
    async promisedObservable(): Promise<Observable<string>> {
      return defer(() => this.run());
    }

    @Get('once')
    @Once('order', { keep: '1h' })
    async once(): Promise<string> {
      return this.run();
    }

    @Get('override')
    @Locked('whole')
    override async override(): Promise<string> {
      return super.override();
    }
  }
  return OrdersController;
}

const HANDLERS = ['promise', 'observable', 'promised-observable', 'once', 'override'];
const SCOPES: [string, Scope, boolean][] = [
  ['singleton', Scope.DEFAULT, false],
  ['request-scoped', Scope.REQUEST, false],
  ['durable', Scope.REQUEST, true],
];
const ENDS = [
  ['has failed', TimeoutInterceptor, 408],
  ['is answered', FallbackInterceptor, 200],
] as const;

@Controller()
class PipedController extends Base {
  @Get('piped')
  @UseInterceptors(TimeoutInterceptor, CommittingRetryInterceptor)
  @Locked('order')
  async piped(@Query(SecondAttemptPipe) _query: object): Promise<string> {
    this.journal.write('run');
    throw new Error('deadlock found when trying to get lock');
  }

  /** Calls itself when its request has ended. */
  @Get('left-behind')
  @Locked('order')
  async leftBehind(@Query() _query?: object, depth = 0): Promise<string> {
    this.journal.write(`run ${depth}`);
    if (depth < 2) void this.gate.pass().then(() => this.leftBehind(undefined, depth + 1));
    return 'done';
  }
}

describe.each(platforms)('A retry on %s of a handler that has run', (_name, adapter) => {
  let app: HttpApplication;
  let gate: Gate;
  let lines: string[];

  afterEach(() => app.stop());

  async function start(controller: Type): Promise<void> {
    app = await HttpApplication.start(adapter(), {
      imports: [RedisLockModule.forRoot({ connection: 'memory' })],
      controllers: [controller],
      providers: [Gate, Journal],
    });
    [gate, { lines }] = [app.nest.get(Gate), app.nest.get(Journal)];
  }

  const REFUSED = 'The request ended before its handler ran again.';
  const kinds = ENDS.flatMap(([end, outer, status]) =>
    SCOPES.map(([scope, ...given]) => [end, scope, outer, status, ...given] as const),
  );

  it.each(kinds)('is refused after its request %s: %s', async (_end, _scope, outer, status, ...scope) => {
    await start(controllerBelow(outer, ...scope));
    for (const [i, path] of HANDLERS.entries()) {
      const request = app.get(`/${path}`);
      await waitFor(() => gate.arrived === i + 1);
      timeOut();
      expect((await request).status).toBe(status);
      gate.open();
      await waitFor(() => lines.length === 2);
      expect([path, ...lines.splice(0)]).toEqual([path, 'run', REFUSED]);
    }
    await waitFor(() => app.nest.get(LockService).holds().length === 0);
  });

  it('is refused if its request ends while a pipe works', async () => {
    await start(PipedController);
    const request = app.get('/piped');
    await waitFor(() => gate.arrived === 1);
    timeOut();
    expect((await request).status).toBe(408);
    gate.open();
    await waitFor(() => lines.length === 2);

    expect(lines).toEqual(['run', REFUSED]);
  });

  it('is no call that the handler has left behind', async () => {
    await start(PipedController);
    expect(await (await app.get('/left-behind')).text()).toBe('done');
    for (const arrived of [1, 2]) {
      await waitFor(() => gate.arrived === arrived);
      gate.open();
    }
    await waitFor(() => lines.length === 3);

    expect(lines).toEqual(['run 0', 'run 1', 'run 2']);
    await waitFor(() => app.nest.get(LockService).holds().length === 0);
  });
});
