import { Controller, Get, Injectable, Logger, type LoggerService, Param } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { Locked, LockService, RedisLockModule } from '../../lib/index.js';
import { duringTests } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { waitFor } from '../support/wait-for.js';
import { HttpApplication, platforms } from './support/http-application.js';

/** All lines of a flood of contention and an outage of 100 calls and 100 releases. */
const FLOOD: readonly string[] = [
  'log All releases and ends of waits are confirmed, or their leases have expired: N were repeated.',
  'warn The release of held:N was not confirmed. The request is repeated until the lease expires. ' +
    'Redis did not answer release within N ms.',
];
/** On a busy machine, connections to the frozen server are replaced, too: lines of another trouble. */
const OF_CONNECTIONS = /Redis can(?:not)? be used for locks/;

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

@Controller()
class FloodedController {
  constructor(private readonly locks: LockService) {}

  @Get('taken')
  @Locked('hot', { wait: 20 })
  async taken(): Promise<void> {}

  @Get('left/:name')
  async left(@Param('name') name: string): Promise<void> {
    await (await this.locks.acquire(name)).release();
  }
}

describe('What is logged', () => {
  const server = duringTests(() => RedisServer.start());
  let log: NotedLog;
  let lost: RedisServer | undefined;
  let app: HttpApplication | undefined;

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

  it('is a line for each start and end of an outage, and none for contention, in a flood', async () => {
    lost = await RedisServer.start();
    const { url } = lost;
    const platform = platforms[0]?.[1];
    if (!platform) throw new Error('There is no platform');
    const flooded = await HttpApplication.start(
      platform(),
      {
        imports: [RedisLockModule.forRoot({ connection: url, advanced: { commandTimeout: 100 } })],
        controllers: [FloodedController],
      },
      { configure: (nest) => nest.useLogger(log) },
    );
    app = flooded;
    const flood = async (path: string, calls = 100): Promise<Set<number>> => {
      const replies = await Promise.all(
        Array.from({ length: calls }, (_, i) => flooded.get(path.replace('#', String(i)))),
      );
      return new Set(replies.map((reply) => reply.status));
    };
    const locks = flooded.nest.get(LockService);
    const hot = await locks.acquire('hot');
    const holds = await Promise.all(Array.from({ length: 100 }, (_, i) => locks.acquire(`held:${i}`)));
    log.lines.length = 0;
    expect(await flood('/taken')).toEqual(new Set([423]));
    lost.freeze();
    const released = holds.map((hold) => hold.release());
    expect(await flood('/left/#')).toEqual(new Set([503]));
    await Promise.all(released);
    lost.thaw();
    const lines = (areOfConnections: boolean): string[] =>
      log.lines
        .map(({ level, message }) => `${level} ${String(message).replaceAll(/\d+/g, 'N')}`)
        .filter((line) => OF_CONNECTIONS.test(line) === areOfConnections);
    const isOver = (): boolean => /^log Redis can |^$/.test(lines(true).at(-1) ?? '');
    await waitFor(() => lines(false).some((line) => /are confirmed, or/.test(line)) && isOver(), {
      that: 'the ends of the outage to be logged',
    });
    await hot.release();

    expect(lines(false).toSorted()).toEqual(FLOOD);
    // Two connections may fail for different reasons.
    expect(lines(true).join('\n')).toMatch(
      /^(?:(?:error Redis cannot be used for locks: .*\n){1,2}log Redis can be used for locks again\.(?:\n|$))*$/,
    );
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
