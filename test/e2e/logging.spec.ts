import { Controller, Get, Injectable, Logger, type LoggerService, Param } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { Locked, LockService, RedisLockModule } from '../../lib/index.js';
import { RedisServer } from '../support/redis-server.js';
import { waitFor } from '../support/wait-for.js';
import { HttpApplication, platforms } from './support/http-application.js';

/** Notes each line of the log with the context that it came from. */
class NotedLog implements LoggerService {
  readonly lines: { readonly level: string; readonly context: unknown; readonly message: unknown }[] = [];
  log = this.note('log');
  warn = this.note('warn');
  error = this.note('error');
  debug = this.note('debug');
  verbose = this.note('verbose');

  private note(level: string): (message: unknown, ...rest: unknown[]) => void {
    return (message, ...rest) => void this.lines.push({ level, context: rest.at(-1), message });
  }
}

@Injectable()
class Reports {
  @Locked('report', { wait: 5_000 })
  async build(): Promise<void> {
    await new Promise((resolve) => void setImmediate(resolve));
  }

  @Locked('report', { wait: 0, onTimeout: 'skip' })
  async attempt(): Promise<void> {}
}

@Controller()
class LosingController {
  constructor(private readonly locks: LockService) {}

  @Get(':name')
  @Locked('<0>')
  async get(@Param('name') name: string): Promise<string> {
    await this.locks.forceRelease(name);
    await waitFor(() => this.locks.current()?.signal.aborted);
    return name;
  }
}

describe('What is logged', () => {
  let server: RedisServer;
  let log: NotedLog;
  let lost: RedisServer | undefined;
  let app: HttpApplication | undefined;

  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterAll(() => server.stop());
  beforeEach(() => {
    log = new NotedLog();
    Logger.overrideLogger(log);
  });
  afterEach(async () => {
    Logger.overrideLogger(false);
    await app?.stop();
    await lost?.stop();
  });

  function ofLocks(): readonly unknown[] {
    return log.lines.filter(({ message }) => /lock|Redis/i.test(String(message)));
  }

  it('is nothing for 100 contended acquires of two instances with timeouts', async () => {
    const applications = await Promise.all(
      [1, 2].map(async () => {
        const imports = [RedisLockModule.forRoot({ connection: server.url })];
        const context = await Test.createTestingModule({ imports, providers: [Reports] }).compile();
        context.useLogger(log);
        return context.init();
      }),
    );
    log.lines.length = 0;
    const reports = applications.map((each) => each.get(Reports));
    const builds = Array.from({ length: 100 }, (_, i) => reports[i % 2]?.build());
    const attempts = Array.from({ length: 100 }, (_, i) => reports[i % 2]?.attempt());
    await Promise.all([...builds, ...attempts]);
    await Promise.all(applications.map((each) => each.close()));

    // Runs that `onTimeout: 'skip'` skipped, for those who look.
    expect(log.lines.filter(({ level }) => level !== 'debug')).toEqual([]);
  });

  it('has one context: troubles with Redis, releases that fail, holds that are lost', async () => {
    lost = await RedisServer.start();
    const [, platform] = platforms[0] ?? [];
    if (!platform) throw new Error('There is no platform');
    app = await HttpApplication.start(
      platform(),
      {
        imports: [RedisLockModule.forRoot({ connection: lost.url, advanced: { commandTimeout: 100 } })],
        controllers: [LosingController],
      },
      { configure: (nest) => nest.useLogger(log) },
    );
    expect((await app.get('/stolen')).status).toBe(500);
    expect(ofLocks()).toMatchObject([{ level: 'error', context: 'RedisLock' }]);

    const held = await app.nest.get(LockService).acquire('left');
    await lost.kill();
    await held.release();
    await waitFor(() => ofLocks().length > 2);
    expect(ofLocks()).toEqual(ofLocks().map(() => expect.objectContaining({ context: 'RedisLock' })));
  });
});
