import { setTimeout as delay } from 'node:timers/promises';
import { Controller, Get, UseInterceptors, type Type } from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { from, map, type Observable } from 'rxjs';
import { Locked, RedisLockModule } from '../../lib/index.js';
import { duringTests } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { CallbackPool } from './support/callback-pool.js';
import { HttpApplication, platforms } from './support/http-application.js';
import { FromPoolOfHandlers, onceCalling, twiceCalling, type Shape } from './support/interceptor-shapes.js';
import { Journal } from './support/journal.js';

abstract class Orders {
  constructor(private readonly journal: Journal) {}

  @Get('promise')
  @Locked('order')
  async promise(): Promise<string> {
    this.journal.write('begin');
    await delay(2);
    return 'done';
  }

  @Get('several')
  @Locked(['order', 'stock'])
  several(): Promise<string> {
    return this.promise();
  }

  @Get('skipping')
  @Locked('order', { onTimeout: 'skip' })
  async skipping(): Promise<string | undefined> {
    return this.promise();
  }

  @Get('observable')
  @Locked('order')
  observable(): Observable<string> {
    this.journal.write('begin');
    return from(delay(2)).pipe(map(() => 'done'));
  }
}

const handlers = ['promise', 'several', 'skipping', 'observable'];

@Controller()
class PlainOrders extends Orders {
  constructor(journal: Journal) {
    super(journal);
  }
}

function ordersWith(shape: Shape): Type {
  @Controller()
  @UseInterceptors(shape)
  class InterceptedOrders extends Orders {
    constructor(journal: Journal) {
      super(journal);
    }
  }
  return InterceptedOrders;
}

/** A route with its own interceptor, which stands above `@Locked`. */
function orderWith(shape: Shape): Type {
  @Controller()
  class OrderRoute {
    constructor(private readonly journal: Journal) {}

    @UseInterceptors(shape)
    @Get('promise')
    @Locked('order')
    async promise(): Promise<string> {
      this.journal.write('begin');
      await delay(2);
      return 'done';
    }
  }
  return OrderRoute;
}

@Controller()
@UseInterceptors(FromPoolOfHandlers)
class PoolOrders {
  constructor(
    private readonly journal: Journal,
    private readonly pool: CallbackPool,
  ) {}

  @Get('promise')
  @Locked('order')
  async promise(): Promise<string> {
    this.journal.write('begin');
    this.pool.giveBack();
    await delay(2);
    return 'done';
  }
}

const CLIENTS = 5;

describe.each(platforms)('an interceptor on %s that commits after the handler', (_platform, adapter) => {
  const server = duringTests(() => RedisServer.start());
  let app: HttpApplication | undefined;

  afterEach(async () => {
    await app?.stop();
    app = undefined;
  });

  async function start(controller: Type, global?: Shape): Promise<void> {
    const globals = global === undefined ? [] : [{ provide: APP_INTERCEPTOR, useClass: global }];
    app = await HttpApplication.start(adapter(), {
      imports: [RedisLockModule.forRoot({ connection: server.url, wait: 3_000 })],
      controllers: [controller],
      providers: [Journal, CallbackPool, ...globals],
    });
  }

  async function journalOf(path: string): Promise<string[]> {
    const running = app as HttpApplication;
    const { lines } = running.nest.get(Journal);
    lines.length = 0;
    const get = async (): Promise<string> => (await running.get(`/${path}`)).text();
    const answers = await Promise.all(Array.from({ length: CLIENTS }, get));
    expect(answers).toEqual(Array.from({ length: CLIENTS }, () => 'done'));
    return lines;
  }

  const inTurn = (...lines: string[]): string[] => Array.from({ length: CLIENTS }, () => lines).flat();

  describe.each(onceCalling)('and calls it %s,', (_how, shape) => {
    it('keeps the lock until the commit, as a global interceptor', async () => {
      await start(PlainOrders, shape);
      for (const path of handlers) expect(await journalOf(path)).toEqual(inTurn('begin', 'commit'));
    });

    it('keeps the lock until the commit, as an interceptor of the class', async () => {
      await start(ordersWith(shape));
      for (const path of handlers) expect(await journalOf(path)).toEqual(inTurn('begin', 'commit'));
    });

    it('keeps the lock until the commit, as an interceptor of the method', async () => {
      await start(orderWith(shape));
      expect(await journalOf('promise')).toEqual(inTurn('begin', 'commit'));
    });
  });

  it('and calls it in the callback of a pool, inside the lock of another request, waits for that lock', async () => {
    await start(PoolOrders);
    expect(await journalOf('promise')).toEqual(inTurn('begin', 'commit'));
  });

  it.each(twiceCalling)('and calls it %s keeps the lock between the calls', async (_how, shape) => {
    await start(ordersWith(shape));
    for (const path of handlers) expect(await journalOf(path)).toEqual(inTurn('begin', 'begin', 'commit'));
  });
});
