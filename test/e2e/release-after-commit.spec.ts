import { randomUUID } from 'node:crypto';
import { APP_INTERCEPTOR } from '@nestjs/core';
import {
  Controller,
  Get,
  Injectable,
  Module,
  UseInterceptors,
  type ModuleMetadata,
  type Type,
} from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { defer, lastValueFrom } from 'rxjs';
import { Locked, LockService, RedisLockModule } from '../../lib/index.js';
import { duringTests, endingAfterEachTest } from '../support/during-tests.js';
import { RedisServer } from '../support/redis-server.js';
import { CriticalSection } from './places/support/critical-section.js';
import { HttpApplication, platforms, type ApplicationSetup } from './support/http-application.js';
import { interceptorOf } from './support/interceptor.js';
import { Journal } from './support/journal.js';
import { StockTable } from './support/stock-table.js';
import { TransactionInterceptor } from './support/transaction.interceptor.js';
import { RetryInterceptor } from './support/retry.interceptor.js';

@Injectable()
abstract class JournalController {
  constructor(protected readonly journal: Journal) {}

  protected async begin(): Promise<string> {
    this.journal.write('begin');
    return 'done';
  }
}

@Controller()
class MethodBelowController extends JournalController {
  @Locked('work')
  @Get('work')
  @UseInterceptors(TransactionInterceptor)
  work(): Promise<string> {
    return this.begin();
  }
}

abstract class LockedBase extends JournalController {
  @Get('work')
  @Locked('work')
  work(): Promise<string> {
    return this.begin();
  }
}

@Controller()
class PlainController extends JournalController {
  @Get('work')
  @Locked('work')
  work(): Promise<string> {
    return this.begin();
  }
}

/** Holds the lock of the handler around it. */
const LockingInterceptor = interceptorOf(
  (next, locks) => defer(() => locks.using('work', () => lastValueFrom(next.handle()))),
  LockService,
);

@UseInterceptors(TransactionInterceptor, LockingInterceptor)
@Controller()
class InsideLockController extends LockedBase {}

@UseInterceptors(TransactionInterceptor)
@Controller()
class LockingOverrideController extends LockedBase {
  constructor(
    journal: Journal,
    private readonly locks: LockService,
  ) {
    super(journal);
  }

  @Get('work')
  override work(): Promise<string> {
    return this.locks.using('work', () => super.work());
  }
}

@UseInterceptors(TransactionInterceptor)
@Controller()
class TwiceLockedController extends JournalController {
  @Get('work')
  @Locked((): string => `other:${randomUUID()}`)
  @Locked('work')
  work(): Promise<string> {
    return this.begin();
  }
}

@UseInterceptors(TransactionInterceptor)
@Controller()
class LockedOverrideController extends LockedBase {
  @Get('work')
  @Locked(() => [`other:${randomUUID()}`, `another:${randomUUID()}`])
  override async work(): Promise<string> {
    return super.work();
  }
}

@Controller()
class LockedParts {
  constructor(
    protected readonly section: CriticalSection,
    private readonly locks: LockService,
  ) {}

  @Locked('part')
  async part(): Promise<unknown> {
    await this.locks.using('whole', () => this.section.run());
    return undefined;
  }
}

@Controller()
class InOtherPartsController extends LockedParts {
  @Get('work')
  @Locked('whole')
  override async part(): Promise<unknown> {
    return Promise.all([super.part(), super.part()]);
  }
}

@Controller()
class InSamePartsController extends LockedParts {
  @Get('work')
  @Locked('part')
  override async part(): Promise<unknown> {
    await super.part();
    return Promise.all([super.part(), super.part()]);
  }
}

@UseInterceptors(TransactionInterceptor)
@Controller()
class RecursiveController extends JournalController {
  constructor(
    journal: Journal,
    private readonly locks: LockService,
  ) {
    super(journal);
  }

  @Get('work')
  @Locked((depth = 0) => `depth:${depth}`)
  async work(depth = 0): Promise<string> {
    if (depth > 0) return this.begin();
    await this.work(1);
    await this.helper();
    for (const name of ['depth:0', 'depth:1', 'helper']) {
      const { held } = await this.locks.query(name);
      this.journal.write(`${name} is ${held.length > 0 ? 'held' : 'free'}`);
    }
    return 'done';
  }

  @Locked('helper')
  async helper(): Promise<void> {}
}

@UseInterceptors(RetryInterceptor, TransactionInterceptor)
@Controller()
class RetriedController extends JournalController {
  private attempts = 0;

  @Get('work')
  @Locked('work', { reentrant: false })
  async work(): Promise<string> {
    this.attempts += 1;
    if (this.attempts % 2 === 1) throw new Error('deadlock found when trying to get lock');
    return this.begin();
  }
}

@Module({
  providers: [Journal, { provide: APP_INTERCEPTOR, useClass: TransactionInterceptor }],
  exports: [Journal],
})
class TransactionModule {}

describe.each(platforms)('the hold of a locked handler on %s', (_name, adapter) => {
  const server = duringTests(() => RedisServer.start());
  const closing = endingAfterEachTest();

  async function journalOfThree(
    controller: Type,
    metadata: ModuleMetadata = { providers: [Journal] },
    setup: ApplicationSetup = {},
  ): Promise<string[]> {
    const locks = RedisLockModule.forRoot({ connection: server.url });
    const whole = { ...metadata, controllers: [controller], imports: [locks, ...(metadata.imports ?? [])] };
    const app = closing(await HttpApplication.start(adapter(), whole, setup));
    const responses = await Promise.all([app.get('/work'), app.get('/work'), app.get('/work')]);
    expect(await Promise.all(responses.map((response) => response.text()))).toEqual(['done', 'done', 'done']);
    return app.nest.get(Journal).lines;
  }
  const inTurn = ['begin', 'commit', 'begin', 'commit', 'begin', 'commit'];

  // test/compositions has interceptors of the method, the class and the application, and inherited handlers.
  it.each([
    ['below the lock on the method', MethodBelowController],
    ['outside of an interceptor that holds the lock itself', InsideLockController],
    ['on the controller, around an override that holds the lock itself', LockingOverrideController],
    ['on the controller, for a lock below another one of the same method', TwiceLockedController],
    ['on the controller, for a lock of the method that a locked override calls', LockedOverrideController],
  ])('outlives the commit of a transaction interceptor %s', async (_place, controller) => {
    expect(await journalOfThree(controller)).toEqual(inTurn);
  });

  it('outlives the commit of a global transaction interceptor of an imported module', async () => {
    expect(await journalOfThree(PlainController, { imports: [TransactionModule] })).toEqual(inTurn);
  });

  it('outlives the commit of an interceptor given to useGlobalInterceptors', async () => {
    const lines = await journalOfThree(PlainController, undefined, {
      configure: (nest) => nest.useGlobalInterceptors(new TransactionInterceptor(nest.get(Journal))),
    });
    expect(lines).toEqual(inTurn);
  });

  it('ends with the call that the handler makes itself, of itself or of another method', async () => {
    const locks = RedisLockModule.forRoot({ connection: server.url });
    const metadata = { imports: [locks], controllers: [RecursiveController], providers: [Journal] };
    const app = closing(await HttpApplication.start(adapter(), metadata));
    await app.get('/work');
    expect(app.nest.get(Journal).lines).toEqual([
      'begin',
      'depth:0 is held',
      'depth:1 is free',
      'helper is free',
      'commit',
    ]);
  });

  it.each([
    ['of another name', InOtherPartsController, 2],
    ['of the same name', InSamePartsController, 3],
  ])('keeps calls of the overridden method apart that run in parallel: %s', async (_of, controller, runs) => {
    const locks = RedisLockModule.forRoot({ connection: server.url, wait: 2_000 });
    const metadata = { imports: [locks], controllers: [controller], providers: [CriticalSection] };
    const app = closing(await HttpApplication.start(adapter(), metadata));
    expect((await app.get('/work')).status).toBe(200);
    expect(app.nest.get(CriticalSection)).toMatchObject({ runs, most: 1 });
  });

  it('serves each attempt of an interceptor that tries again', async () => {
    expect(await journalOfThree(RetriedController)).toEqual(inTurn);
  });
});

@Injectable()
class Sales {
  constructor(
    private readonly table: StockTable,
    private readonly locks: LockService,
  ) {}

  @Locked('stock')
  async sell(): Promise<void> {
    await this.table.sell();
  }

  sellInTransaction(): Promise<void> {
    return this.table.transaction(() => this.sell());
  }

  @Locked('stock')
  sellUnderLock(): Promise<void> {
    return this.sellInTransaction();
  }

  sellUnderUsing(): Promise<void> {
    return this.locks.using('stock', () => this.sellInTransaction());
  }
}

describe('the hold of a locked service below a transaction', () => {
  const server = duringTests(() => RedisServer.start());

  /** What ten buyers at once get of five pieces. */
  async function soldOfFive(sell: (sales: Sales) => Promise<void>): Promise<number> {
    const table = new StockTable(5);
    const app = await Test.createTestingModule({
      imports: [RedisLockModule.forRoot({ connection: server.url })],
      providers: [Sales, { provide: StockTable, useValue: table }],
    }).compile();
    await Promise.all(Array.from({ length: 10 }, () => sell(app.get(Sales))));
    await app.close();
    return table.sold;
  }

  it('ends before its caller commits, so that more is sold than there is', async () => {
    expect(await soldOfFive((sales) => sales.sellInTransaction())).toBeGreaterThan(5);
  });

  it.each<[string, (sales: Sales) => Promise<void>]>([
    ['@Locked stands on the method that opens it', (sales) => sales.sellUnderLock()],
    ['locks.using goes around the call that opens it', (sales) => sales.sellUnderUsing()],
  ])('outlives the commit if %s', async (_how, sell) => {
    expect(await soldOfFive(sell)).toBe(5);
  });
});
