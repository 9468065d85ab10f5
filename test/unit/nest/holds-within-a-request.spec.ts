import { Controller, Get } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { CurrentLock, Locked, LockService, RedisLockModule, type Lock } from '../../../lib/index.js';
import { HttpApplication } from '../../e2e/support/http-application.js';
import { duringTests } from '../../support/during-tests.js';
import { waitFor } from '../../support/wait-for.js';

abstract class Orders {
  constructor(protected readonly locks: LockService) {}

  @Locked('order')
  async override(): Promise<string> {
    return 'done';
  }

  @Locked('part')
  async part(): Promise<string> {
    return 'done';
  }

  @Locked('order')
  async passedOn(): Promise<string> {
    return 'done';
  }
}

@Controller()
class OrdersController extends Orders {
  constructor(locks: LockService) {
    super(locks);
  }

  @Get('override')
  override override(): Promise<string> {
    return this.locks.using('order', () => super.override());
  }

  @Get('released')
  @Locked((depth = 0) => `depth:${depth}`)
  async released(depth = 0, @CurrentLock() lock?: Lock): Promise<string> {
    await lock?.release();
    return depth === 2 ? 'done' : this.released(depth + 1);
  }

  @Get('detached')
  @Locked((depth = 0) => `depth:${depth}`)
  async detached(depth = 0, @CurrentLock() lock?: Lock): Promise<string> {
    await using _ = await this.locks.attach((await lock?.detach()) ?? '');
    return depth === 2 ? 'done' : this.detached(depth + 1);
  }

  @Get('passed-on')
  @Locked('order')
  override async passedOn(@CurrentLock() lock?: Lock): Promise<string> {
    const result = await super.passedOn();
    await using _ = await this.locks.attach((await lock?.detach()) ?? '');
    return result;
  }

  @Get('part')
  @Locked('whole')
  override async part(@CurrentLock() lock?: Lock): Promise<string> {
    await lock?.release();
    return super.part();
  }
}

// In test/compositions, interceptors hold the lock of the handler around it.
describe('a request', () => {
  const app = duringTests(() =>
    HttpApplication.start(new ExpressAdapter(), {
      imports: [RedisLockModule.forRoot({ connection: 'memory', wait: 500, shutdownTimeout: 100 })],
      controllers: [OrdersController],
    }),
  );

  /** A request that waits for itself would never get its reply. */
  async function expectDone(path: string): Promise<void> {
    const response = await app.get(path, { signal: AbortSignal.timeout(4_000) });
    expect(await response.text()).toBe('done');
    await waitFor(() => app.locks.holds().length === 0);
  }

  it('ends if an override holds the lock of the method that it overrides around it', async () => {
    await expectDone('/override');
  });

  it.each(['/released', '/detached', '/part'])(
    'ends if its handler calls a locked method of its own after the end of its hold: %s',
    expectDone,
  );

  it('ends if its handler detaches its hold after the method that it overrides, of the same name', async () => {
    await expectDone('/passed-on');
  });
});
