import { Controller, Get, Injectable, Query, UseInterceptors, type PipeTransform } from '@nestjs/common';
import { from, lastValueFrom } from 'rxjs';
import { Locked, LockService, Once, RedisLockModule } from '../../../lib/index.js';
import { Gate } from '../../e2e/support/gate.js';
import { HttpApplication, platforms } from '../../e2e/support/http-application.js';
import { interceptorOf } from '../../e2e/support/interceptor.js';
import { Journal } from '../../e2e/support/journal.js';
import { TimeoutInterceptor, timeOut } from '../../e2e/support/timeout.interceptor.js';
import { waitFor } from '../../support/wait-for.js';

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

@Controller()
class OrdersController extends Base {
  @Get('once')
  @UseInterceptors(TimeoutInterceptor, CommittingRetryInterceptor)
  @Once('order', { keep: '1h' })
  async once(): Promise<string> {
    return this.run();
  }

  @Get('override')
  @UseInterceptors(TimeoutInterceptor, CommittingRetryInterceptor)
  @Locked('whole')
  override async override(): Promise<string> {
    return super.override();
  }

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

// test/compositions has the other handlers, scopes and transports.
describe.each(platforms)('A retry on %s of a handler that has run', (_name, adapter) => {
  let app: HttpApplication;
  let gate: Gate;
  let lines: string[];

  beforeEach(async () => {
    app = await HttpApplication.start(adapter(), {
      imports: [RedisLockModule.forRoot({ connection: 'memory' })],
      controllers: [OrdersController],
      providers: [Gate, Journal],
    });
    [gate, { lines }] = [app.nest.get(Gate), app.nest.get(Journal)];
  });
  afterEach(() => app.stop());

  const REFUSED = 'The request ended before its handler ran again.';

  it.each([
    ['has failed', 'once'],
    ['has failed below an override', 'override'],
    ['ends while a pipe works', 'piped'],
  ])('is refused if its request %s', async (_when, path) => {
    const request = app.get(`/${path}`);
    await waitFor(() => gate.arrived === 1);
    timeOut();
    expect((await request).status).toBe(408);
    gate.open();
    await waitFor(() => lines.length === 2);

    expect(lines).toEqual(['run', REFUSED]);
    await waitFor(() => app.nest.get(LockService).holds().length === 0);
  });

  it('is no call that the handler has left behind', async () => {
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
