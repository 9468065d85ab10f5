import { Controller, Get, Param, UseInterceptors, type Type } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { CurrentLock, Locked, RedisLockModule, type Lock } from '../../../lib/index.js';
import { duringTests, endingAfterEachTest } from '../../support/during-tests.js';
import { RedisServer } from '../../support/redis-server.js';
import { HttpApplication } from '../support/http-application.js';
import { Journal } from '../support/journal.js';
import { TransactionInterceptor } from '../support/transaction.interceptor.js';

type Method = (this: object, ...args: unknown[]) => unknown;

const spans: string[] = [];

/** A method as an agent that measures applications wraps it: a new function around it. */
function traced(name: string, method: Method): Method {
  return async function (this: object, ...args: unknown[]) {
    spans.push(`${name} began`);
    try {
      return await Reflect.apply(method, this, args);
    } finally {
      spans.push(`${name} ended`);
    }
  };
}

/** As a decorator that replaces the method and copies its metadata, as those of agents for Nest do. */
function Traced(name: string): MethodDecorator {
  return (_target, _key, descriptor: PropertyDescriptor) => {
    const original = descriptor.value as Method;
    const wrapper = traced(name, original);
    for (const key of Reflect.getMetadataKeys(original)) {
      Reflect.defineMetadata(key, Reflect.getMetadata(key, original), wrapper);
    }
    descriptor.value = wrapper;
  };
}

/** As an agent does that knows nothing of decorators: it puts its own function into the class. */
function patch(prototype: object, name: string): void {
  const original = Reflect.get(prototype, name) as Method;
  const wrapper = traced('patch', original);
  for (const key of Reflect.getMetadataKeys(original)) {
    Reflect.defineMetadata(key, Reflect.getMetadata(key, original), wrapper);
  }
  Reflect.set(prototype, name, wrapper);
}

abstract class Base {
  constructor(protected readonly journal: Journal) {}

  @Get('inherited/:id')
  @Locked('order:<0>')
  async inherited(@Param('id') id: string, @CurrentLock() lock?: Lock): Promise<boolean> {
    this.journal.write(`work ${id}`);
    return lock?.held === true;
  }
}

@Controller()
@UseInterceptors(TransactionInterceptor)
class FieldController extends Base {
  constructor(journal: Journal) {
    super(journal);
    this.inherited = (id: string) => super.inherited(id);
  }
}

function controller() {
  @Controller()
  @UseInterceptors(TransactionInterceptor)
  class OrdersController {
    constructor(private readonly journal: Journal) {}

    @Get('above/:id')
    @Traced('above')
    @Locked('order:<0>')
    async above(@Param('id') id: string, @CurrentLock() lock?: Lock): Promise<boolean> {
      return this.work(id, lock);
    }

    @Get('below/:id')
    @Locked('order:<0>')
    @Traced('below')
    async below(@Param('id') id: string, @CurrentLock() lock?: Lock): Promise<boolean> {
      return this.work(id, lock);
    }

    @Get('patched/:id')
    @Locked('order:<0>')
    async patched(@Param('id') id: string, @CurrentLock() lock?: Lock): Promise<boolean> {
      return this.work(id, lock);
    }

    private async work(id: string, lock?: Lock): Promise<boolean> {
      this.journal.write(`work ${id}`);
      return lock?.held === true;
    }
  }
  return OrdersController;
}

describe('also a method that an agent wraps', () => {
  const server = duringTests(() => RedisServer.start());
  const closing = endingAfterEachTest();
  let app: HttpApplication;

  beforeEach(() => {
    spans.length = 0;
  });

  async function expectLockedUntilCommit(path: string): Promise<void> {
    const responses = await Promise.all([1, 2, 3].map(() => app.get(`/${path}/7`)));
    expect(await Promise.all(responses.map((response) => response.text()))).toEqual(['true', 'true', 'true']);
    expect(app.nest.get(Journal).lines).toEqual([1, 2, 3].flatMap(() => ['work 7', 'commit']));
  }

  async function start(type: Type = controller(), beforeStart: () => void = () => {}): Promise<void> {
    beforeStart();
    const imports = [RedisLockModule.forRoot({ connection: server.url })];
    const metadata = { imports, controllers: [type], providers: [Journal] };
    app = closing(await HttpApplication.start(new ExpressAdapter(), metadata));
  }

  it.each(['above', 'below'])('is locked with the wrapper %s', async (place) => {
    await start();
    await expectLockedUntilCommit(place);
    expect(spans.filter((span) => span === `${place} began`)).toHaveLength(3);
  });

  it('measures the wait from above, and not from below', async () => {
    await start();
    await Promise.all([1, 2].map(() => app.get('/above/7')));
    expect(spans).toEqual(['above began', 'above began', 'above ended', 'above ended']);
    spans.length = 0;
    await Promise.all([1, 2].map(() => app.get('/below/7')));
    expect(spans).toEqual(['below began', 'below ended', 'below began', 'below ended']);
  });

  it('is locked when the class is patched before the start', async () => {
    const type = controller();
    await start(type, () => patch(type.prototype, 'patched'));
    await expectLockedUntilCommit('patched');
    expect(spans).toHaveLength(6);
  });

  it('is locked when the class is patched after the start', async () => {
    const type = controller();
    await start(type);
    patch(type.prototype, 'patched');
    await expectLockedUntilCommit('patched');
  });

  // test/compositions has bound, inherited, overridden and mixed-in methods, and agents that wrap the handlers of routes.
  it('is locked if a field of the instance calls it', async () => {
    await start(FieldController);
    await expectLockedUntilCommit('inherited');
  });
});
