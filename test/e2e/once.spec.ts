import assert from 'node:assert/strict';
import { Controller, Get, Injectable, Param, StreamableFile, UseInterceptors } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { map, Observable, of } from 'rxjs';
import { CurrentLock, type Lock, LockService, Once, RedisLockModule } from '../../lib/index.js';
import { duringTests, endingAfterEachTest } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { waitFor } from '../support/wait-for.js';
import { Gate } from './support/gate.js';
import { HttpApplication, platforms } from './support/http-application.js';
import { interceptorOf } from './support/interceptor.js';
import { TimeoutInterceptor, timeOut } from './support/timeout.interceptor.js';

const KEEP = { keep: '1h' } as const;

/** The runs of all applications of a test, which each end when the test says so. */
class Runs extends Gate {
  count = 0;

  async run(day: string, lock?: Lock): Promise<{ day: string; run: number; held: boolean | undefined }> {
    const run = ++this.count;
    await this.pass();
    return { day, run, held: lock?.held };
  }
}

/** A provider, whose calls belong to no request. */
@Injectable()
class Reports {
  constructor(private readonly runs: Runs) {}

  @Once('report:<0>', KEEP)
  build(day: string): Promise<{ day: string; run: number }> {
    return this.runs.run(day);
  }

  @Once((day: string) => [`a:${day}`, `b:${day}`], KEEP)
  async several(_day: string): Promise<void> {}

  @Once('stream:<0>', KEEP)
  async stream(_day: string): Promise<number> {
    // As a compiler without type checks would let it.
    return of(1) as never;
  }

  @Once('map:<0>', KEEP)
  async map(_day: string): Promise<object> {
    return new Map([[1, 2]]);
  }

  @Once('changing:<0>', KEEP)
  async changing(_day: string): Promise<object> {
    const unread = ['first'];
    return {
      get part(): string {
        return unread.pop() ?? assert.fail('There is no more to read.');
      },
    };
  }
}

/** Sends the result of the handler as a file. */
const FileInterceptor = interceptorOf((next) =>
  next.handle().pipe(map((value) => new StreamableFile(Buffer.from(JSON.stringify(value))))),
);

@Controller()
class ReportController {
  constructor(private readonly runs: Runs) {}

  @Get('plain/:day')
  @Once('plain:<0>', { preset: 'patient', keep: '1h' })
  plain(@Param('day') day: string, @CurrentLock() lock?: Lock): Promise<object> {
    return this.runs.run(day, lock);
  }

  @Get('timed/:day')
  @UseInterceptors(TimeoutInterceptor)
  @Once('timed:<0>', KEEP)
  timed(@Param('day') day: string): Promise<object> {
    return this.runs.run(day);
  }

  @Get('streamed/:day')
  @UseInterceptors(FileInterceptor)
  @Once('streamed:<0>', KEEP)
  streamed(@Param('day') day: string): Promise<object> {
    return this.runs.run(day);
  }
}

describe.each(platforms)('@Once on %s', (_, adapter) => {
  const redis = duringTests(() => RedisServer.start());
  let runs: Runs;
  const closing = endingAfterEachTest();

  beforeEach(async () => {
    await redis.client().flushall();
    runs = new Runs();
  });

  /** Starts an instance of the application; the runs of all instances are counted together. */
  async function start(): Promise<HttpApplication> {
    const application = await HttpApplication.start(adapter(), {
      imports: [RedisLockModule.forRoot({ connection: redis.url, presets: { patient: { wait: '30s' } } })],
      controllers: [ReportController],
      providers: [FileInterceptor, TimeoutInterceptor, { provide: Runs, useValue: runs }],
    });
    return closing(application);
  }

  const bodyOf = async (response: Promise<Response>): Promise<unknown> => (await response).json();
  const arrived = (count: number): Promise<true> => waitFor(() => runs.arrived === count);

  it('runs a handler once for the requests of all instances, with its lock as an argument', async () => {
    const [one, other] = [await start(), await start()];
    const first = bodyOf(one.get('/plain/monday'));
    await arrived(1);
    const rest = [one, other, other].map((each) => bodyOf(each.get('/plain/monday')));
    const locks = other.nest.get(LockService);
    await waitFor(async () => (await locks.query('plain:monday')).pending.length >= 1);
    runs.open();

    expect(await Promise.all([first, ...rest])).toEqual(
      Array.from({ length: 4 }, () => ({ day: 'monday', run: 1, held: true })),
    );
    expect(await bodyOf(other.get('/plain/monday'))).toEqual({ day: 'monday', run: 1, held: true });
    expect(runs.count).toBe(1);
  });

  it('keeps the result of a run whose client has left', async () => {
    const [one, other] = [await start(), await start()];
    const locks = one.nest.get(LockService);
    const client = new AbortController();
    const first = one.get('/plain/monday', { signal: client.signal });
    await arrived(1);
    client.abort();
    await expect(first).rejects.toThrow();
    const second = bodyOf(other.get('/plain/monday'));
    await waitFor(async () => (await locks.query('plain:monday')).pending.length === 1);
    runs.open();

    expect(await second).toEqual({ day: 'monday', run: 1, held: true });
  });

  it('keeps the result of a handler that an interceptor sends as a file', async () => {
    const one = await start();
    const first = bodyOf(one.get('/streamed/monday'));
    await arrived(1);
    runs.open();

    expect(await first).toEqual({ day: 'monday', run: 1 });
    expect(await bodyOf(one.get('/streamed/monday'))).toEqual({ day: 'monday', run: 1 });
  });

  it('keeps nothing of a run whose interceptor has timed out', async () => {
    const one = await start();
    const first = one.get('/timed/monday');
    await arrived(1);
    timeOut();
    expect((await first).status).toBe(408);
    const second = one.get('/timed/monday');
    runs.open();
    await arrived(2);
    runs.open();

    expect(await bodyOf(second)).toEqual({ day: 'monday', run: 2 });
  });

  it('ends the wait of a client that leaves, and runs nothing for it', async () => {
    const [one, other] = [await start(), await start()];
    const locks = other.nest.get(LockService);
    const held = await locks.acquire('plain:monday');
    const client = new AbortController();
    const waiting = one.get('/plain/monday', { signal: client.signal });
    await waitFor(async () => (await locks.query('plain:monday')).pending.length === 1);
    client.abort();
    await expect(waiting).rejects.toThrow();
    await waitFor(async () => (await locks.query('plain:monday')).pending.length === 0);
    await held.release();

    expect(runs.count).toBe(0);
  });
});

describe('@Once without a request', () => {
  async function reports(): Promise<[Reports, Runs, HttpApplication]> {
    const runs = new Runs();
    const application = await HttpApplication.start(new ExpressAdapter(), {
      imports: [RedisLockModule.forRoot({ connection: 'memory' })],
      providers: [Reports, { provide: Runs, useValue: runs }],
    });
    return [application.nest.get(Reports), runs, application];
  }

  it('keeps the result when the method has ended', async () => {
    const [service, runs, application] = await reports();
    const first = service.build('monday');
    const second = service.build('monday');
    await waitFor(() => runs.arrived === 1);
    runs.open();

    expect(await Promise.all([first, second])).toEqual([
      { day: 'monday', run: 1 },
      { day: 'monday', run: 1 },
    ]);
    await application.stop();
  });

  it('rejects several names, a stream, and a result that is no plain data', async () => {
    const [service, , application] = await reports();

    await expect(service.several('monday')).rejects.toThrow(
      'Reports.several is @Once with several names, but a result belongs to one name.',
    );
    await expect(service.stream('monday')).rejects.toThrow(
      'Reports.stream is @Once, but its result is an Observable, which cannot be kept. The work has run.',
    );
    await expect(service.map('monday')).rejects.toThrow(
      'contains a Map, which JSON cannot keep. The work has run',
    );
    await expect(service.changing('monday')).rejects.toThrow(
      'cannot be read, which JSON cannot keep. The work has run',
    );
    expect(application.nest.get(LockService).holds()).toEqual([]);
    await application.stop();
  });

  it('refuses bad declarations when the class is defined', () => {
    const declare = (decorate: () => unknown): (() => unknown) => decorate;
    const options = (given: object) =>
      declare(() => Once('report', given as never)(Reports.prototype, 'x', { value: async () => undefined }));

    expect(options({})).toThrow("@Once needs the option keep: how long the result is kept, such as '1h'.");
    expect(options({ ...KEEP, mode: 'shared' })).toThrow('mode');
    expect(() => Once(['a', 'b'] as never, KEEP)).toThrow('@Once takes one key');
    expect(() => {
      class Streams {
        // @ts-expect-error -- an Observable cannot be kept
        @Once('stream', KEEP)
        stream(): Observable<number> {
          return of(1);
        }
      }
      return Streams;
    }).toThrow('Streams.stream is @Once and returns an Observable');
  });
});
