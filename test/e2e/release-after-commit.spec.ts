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
import { Locked, RedisLockModule, type LockModuleOptions } from '../../lib/index.js';
import { RedisServer } from '../support/redis-server.js';
import { HttpApplication, platforms, type ApplicationSetup } from './support/http-application.js';
import { Journal } from './support/journal.js';
import { TransactionInterceptor } from './support/transaction.interceptor.js';
import { RetryInterceptor } from './support/retry.interceptor.js';

abstract class JournalController {
  constructor(protected readonly journal: Journal) {}

  protected async begin(): Promise<string> {
    this.journal.write('begin');
    return 'done';
  }
}

@Controller()
@Injectable()
class MethodAboveController extends JournalController {
  constructor(journal: Journal) {
    super(journal);
  }

  @UseInterceptors(TransactionInterceptor)
  @Get('work')
  @Locked('work')
  work(): Promise<string> {
    return this.begin();
  }
}

@Controller()
class MethodBelowController extends JournalController {
  constructor(journal: Journal) {
    super(journal);
  }

  @Locked('work')
  @Get('work')
  @UseInterceptors(TransactionInterceptor)
  work(): Promise<string> {
    return this.begin();
  }
}

@UseInterceptors(TransactionInterceptor)
@Controller()
class ClassController extends JournalController {
  constructor(journal: Journal) {
    super(journal);
  }

  @Get('work')
  @Locked('work')
  work(): Promise<string> {
    return this.begin();
  }
}

@UseInterceptors(TransactionInterceptor)
abstract class TransactionalBase extends JournalController {}

@Controller()
class BaseClassController extends TransactionalBase {
  constructor(journal: Journal) {
    super(journal);
  }

  @Get('work')
  @Locked('work')
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

@UseInterceptors(TransactionInterceptor)
@Controller()
class InheritingController extends LockedBase {
  constructor(journal: Journal) {
    super(journal);
  }
}

@UseInterceptors(TransactionInterceptor)
@Controller()
class OverridingController extends LockedBase {
  constructor(journal: Journal) {
    super(journal);
  }

  @Get('work')
  override async work(): Promise<string> {
    return super.work();
  }
}

@Controller()
class PlainController extends JournalController {
  constructor(journal: Journal) {
    super(journal);
  }

  @Get('work')
  @Locked('work')
  work(): Promise<string> {
    return this.begin();
  }
}

@UseInterceptors(RetryInterceptor, TransactionInterceptor)
@Controller()
class RetriedController extends JournalController {
  private attempts = 0;

  constructor(journal: Journal) {
    super(journal);
  }

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
  let server: RedisServer;
  let app: HttpApplication | undefined;

  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterEach(async () => {
    await app?.stop();
    app = undefined;
  });
  afterAll(async () => {
    await server.stop();
  });

  async function journalOfThree(
    controller: Type,
    metadata: ModuleMetadata = { providers: [Journal] },
    options: LockModuleOptions = {},
    setup: ApplicationSetup = {},
  ): Promise<string[]> {
    const locks = RedisLockModule.forRoot({ connection: server.url, ...options });
    const whole = { ...metadata, controllers: [controller], imports: [locks, ...(metadata.imports ?? [])] };
    app = await HttpApplication.start(adapter(), whole, setup);
    const responses = await Promise.all([app.get('/work'), app.get('/work'), app.get('/work')]);
    expect(await Promise.all(responses.map((response) => response.text()))).toEqual(['done', 'done', 'done']);
    return app.nest.get(Journal).lines;
  }
  const inTurn = ['begin', 'commit', 'begin', 'commit', 'begin', 'commit'];

  it.each([
    ['above the method', MethodAboveController],
    ['below the lock on the method', MethodBelowController],
    ['on the controller', ClassController],
    ['on the base class of the controller', BaseClassController],
    ['on the controller that inherits the locked method', InheritingController],
    ['on the controller that overrides the locked method and calls it', OverridingController],
  ])('outlives the commit of a transaction interceptor %s', async (_place, controller) => {
    expect(await journalOfThree(controller)).toEqual(inTurn);
  });

  it('outlives the commit of a global transaction interceptor of the root module', async () => {
    const providers = [Journal, { provide: APP_INTERCEPTOR, useClass: TransactionInterceptor }];
    expect(await journalOfThree(PlainController, { providers }, { interceptor: 'global' })).toEqual(inTurn);
  });

  it('outlives the commit of a global transaction interceptor of an imported module', async () => {
    const lines = await journalOfThree(
      PlainController,
      { imports: [TransactionModule] },
      { interceptor: 'global' },
    );
    expect(lines).toEqual(inTurn);
  });

  it('outlives the commit of an interceptor given to useGlobalInterceptors', async () => {
    const lines = await journalOfThree(
      PlainController,
      undefined,
      { interceptor: 'global' },
      {
        configure: (nest) => nest.useGlobalInterceptors(new TransactionInterceptor(nest.get(Journal))),
      },
    );
    expect(lines).toEqual(inTurn);
  });

  it('ends before the commit of a global interceptor without the global registration', async () => {
    const providers = [Journal, { provide: APP_INTERCEPTOR, useClass: TransactionInterceptor }];
    expect(await journalOfThree(PlainController, { providers })).not.toEqual(inTurn);
  });

  it('serves each attempt of an interceptor that tries again', async () => {
    expect(await journalOfThree(RetriedController)).toEqual(inTurn);
  });
});
