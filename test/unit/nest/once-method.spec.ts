import { Controller, Get, Param, UseInterceptors } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { catchError, concatMap, defer, lastValueFrom, of } from 'rxjs';
import { LockConfigError, Locked, LockService, Once, RedisLockModule } from '../../../lib/index.js';
import { HttpApplication } from '../../e2e/support/http-application.js';
import { interceptorOf } from '../../e2e/support/interceptor.js';
import { RetryInterceptor } from '../../e2e/support/retry.interceptor.js';
import { duringEachTest } from '../../support/during-tests.js';

const KEEP = { keep: '1h' } as const;

/** What the interceptor does after the handler, and what it saw. */
class Commit {
  fails = false;
  keptBefore: boolean | undefined;
}

const CommittingInterceptor = interceptorOf(
  (next, locks, commit) =>
    next.handle().pipe(
      concatMap(async (value) => {
        commit.keptBefore = (await locks.query('route:a')).done !== undefined;
        if (commit.fails) throw new Error('the commit failed');
        return value;
      }),
    ),
  LockService,
  Commit,
);

/** Replies itself if the handler fails. */
const FallbackInterceptor = interceptorOf((next) => next.handle().pipe(catchError(() => of('no report'))));

/** Holds the lock of the handler around it. */
const LockingInterceptor = interceptorOf(
  (next, locks) => defer(() => locks.using('route:a', () => lastValueFrom(next.handle()))),
  LockService,
);

class BaseReports {
  runs = 0;

  @Once('route:<0>', KEEP)
  async overridden(id: string): Promise<{ id: string; run: number }> {
    this.runs += 1;
    return { id, run: this.runs };
  }

  @Once('route:<0>', KEEP)
  async both(id: string): Promise<unknown> {
    this.runs += 1;
    return { id, run: this.runs };
  }
}

@Controller()
class ReportsController extends BaseReports {
  @Get('stacked/:id')
  @UseInterceptors(CommittingInterceptor)
  @Locked('route:<0>')
  @Once('route:<0>', KEEP)
  async stacked(@Param('id') id: string): Promise<{ id: string; run: number }> {
    this.runs += 1;
    return { id, run: this.runs };
  }

  @Get('overridden/:id')
  @UseInterceptors(CommittingInterceptor)
  @Locked(['other', 'route:<0>'])
  override async overridden(@Param('id') id: string): Promise<{ id: string; run: number }> {
    return super.overridden(id);
  }

  @Get('both/:id')
  @Locked('other')
  override async both(@Param('id') id: string): Promise<unknown> {
    return Promise.all([super.both(id), super.both('b')]);
  }

  @Get('around/:id')
  @UseInterceptors(LockingInterceptor)
  @Once('route:<0>', KEEP)
  async around(@Param('id') id: string): Promise<{ id: string; run: number }> {
    this.runs += 1;
    return { id, run: this.runs };
  }

  @Get('committed-around/:id')
  @UseInterceptors(CommittingInterceptor, LockingInterceptor)
  @Once('route:<0>', KEEP)
  async committedAround(@Param('id') id: string): Promise<{ id: string; run: number }> {
    this.runs += 1;
    return { id, run: this.runs };
  }

  @Get('replaced/:id')
  @UseInterceptors(FallbackInterceptor, CommittingInterceptor)
  @Once('route:<0>', KEEP)
  async replaced(@Param('id') id: string): Promise<{ id: string; run: number }> {
    this.runs += 1;
    return { id, run: this.runs };
  }

  @Get('replaced-after-two/:id')
  @UseInterceptors(FallbackInterceptor, RetryInterceptor, CommittingInterceptor)
  @Once('route:<0>', KEEP)
  async replacedAfterTwo(@Param('id') id: string): Promise<{ id: string; run: number }> {
    this.runs += 1;
    return { id, run: this.runs };
  }

  @Get('failing/:id')
  @UseInterceptors(FallbackInterceptor, RetryInterceptor, CommittingInterceptor)
  @Once('route:<0>', KEEP)
  async failing(@Param('id') id: string): Promise<{ id: string; run: number }> {
    this.runs += 1;
    if (this.runs === 2) throw new Error('no paper');
    return { id, run: this.runs };
  }

  @Get('large')
  @Once('large', KEEP)
  async large(): Promise<string> {
    return 'x'.repeat(70_000);
  }
}

describe('a method with @Once', () => {
  const app = duringEachTest(() =>
    HttpApplication.start(new ExpressAdapter(), {
      imports: [RedisLockModule.forRoot({ connection: 'memory' })],
      controllers: [ReportsController],
      providers: [Commit],
    }),
  );
  let controller: ReportsController;
  let commit: Commit;
  let locks: LockService;

  beforeEach(async () => {
    [controller, commit, locks] = [app.nest.get(ReportsController), app.nest.get(Commit), app.locks];
    for (const name of ['route:a', 'route:b']) await locks.forget(name);
  });

  it.each([
    ['one run', 'replaced', 1],
    ['the last of two runs', 'replaced-after-two', 2],
  ])('as a route keeps the result of %s if an outer interceptor replies', async (_which, path, run) => {
    commit.fails = true;
    expect(await (await app.get(`/${path}/a`)).text()).toBe('no report');
    commit.fails = false;

    expect(await (await app.get(`/${path}/a`)).json()).toEqual({ id: 'a', run });
  });

  it.each(['stacked', 'overridden', 'committed-around'])(
    'nested in another lock of its name keeps its result when the interceptors have ended: %s',
    async (path) => {
      commit.fails = true;
      expect((await app.get(`/${path}/a`)).status).toBe(500);
      expect((await locks.query('route:a')).done).toBeUndefined();
      commit.fails = false;
      const read = async (): Promise<unknown> => (await app.get(`/${path}/a`)).json();

      expect(await read()).toEqual({ id: 'a', run: 2 });
      expect(commit.keptBefore).toBe(false);
      expect(await read()).toEqual({ id: 'a', run: 2 });
    },
  );

  it('nested in the hold of an interceptor keeps its result', async () => {
    const read = async (): Promise<unknown> => (await app.get('/around/a')).json();

    expect([await read(), await read()]).toEqual([
      { id: 'a', run: 1 },
      { id: 'a', run: 1 },
    ]);
  });

  it('keeps each result of calls that an override makes in parallel', async () => {
    const read = async (): Promise<unknown> => (await app.get('/both/a')).json();
    const first = await read();

    expect(await read()).toEqual(first);
    expect(controller.runs).toBe(2);
  });

  it('as a route keeps nothing of an earlier run if its last run has failed', async () => {
    commit.fails = true;
    expect(await (await app.get('/failing/a')).text()).toBe('no report');

    expect(controller.runs).toBe(2);
    expect((await locks.query('route:a')).done).toBeUndefined();
  });

  it('as a route fails with a result that cannot be kept, and leaves its lock free', async () => {
    expect((await app.get('/large')).status).toBe(500);
    expect(await locks.query('large')).toEqual({ held: [], pending: [] });
  });

  it('is refused at decoration on a generator', () => {
    const decorator = Once('a', KEEP) as unknown as (...args: unknown[]) => void;
    const decoration = (): void =>
      decorator(ReportsController.prototype, 'method', { value: function* () {} });

    expect(decoration).toThrow(LockConfigError);
    expect(decoration).toThrow('a generator');
  });
});
