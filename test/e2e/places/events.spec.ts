import { Injectable, Logger, Scope } from '@nestjs/common';
import { EventEmitter2, EventEmitterModule, OnEvent } from '@nestjs/event-emitter';
import { Locked, LockService, LockTimeoutError, RedisLockModule } from '../../../lib/index.js';
import { startModule } from '../support/start-module.js';
import { duringEachTest, duringTests } from '../../support/during-tests.js';
import { RedisServer } from '../../support/redis-server.js';
import { waitFor } from '../../support/wait-for.js';
import { CriticalSection } from './support/critical-section.js';

@Injectable()
class StockListener {
  constructor(private readonly section: CriticalSection) {}

  @OnEvent('reserved')
  @Locked('stock:<0.sku>')
  async onReserved(_event: { sku: string }): Promise<void> {
    await this.section.run();
  }

  @OnEvent('attempted', { suppressErrors: false })
  @Locked('stock:<0.sku>', { wait: 0 })
  async onAttempted(_event: { sku: string }): Promise<void> {
    await this.section.run();
  }

  @OnEvent('suppressed')
  @Locked('stock:<0.sku>', { wait: 0 })
  async onSuppressed(_event: { sku: string }): Promise<void> {
    await this.section.run();
  }
}

@Injectable({ scope: Scope.REQUEST })
class RequestScopedListener {
  constructor(private readonly section: CriticalSection) {}

  @Locked('stock:<0.sku>')
  @OnEvent('scoped')
  async onScoped(_event: { sku: string }): Promise<void> {
    await this.section.run();
  }
}

describe('locked event handlers', () => {
  const server = duringTests(() => RedisServer.start());
  const app = duringEachTest(() =>
    startModule({
      imports: [EventEmitterModule.forRoot(), RedisLockModule.forRoot({ connection: server.url })],
      providers: [StockListener, RequestScopedListener, CriticalSection],
    }),
  );
  let events: EventEmitter2;
  let section: CriticalSection;

  beforeEach(() => {
    events = app.get(EventEmitter2);
    section = app.get(CriticalSection);
  });

  it.each(['reserved', 'scoped'])('exclude each other, the event "%s"', async (event) => {
    for (const sku of ['a', 'a', 'a']) events.emit(event, { sku });
    await waitFor(() => section.runs === 3);
    expect(section.most).toBe(1);
  });

  it('reject with the lock error if errors are not suppressed', async () => {
    await using _ = await app.get(LockService).acquire('stock:a');
    await expect(events.emitAsync('attempted', { sku: 'a' })).rejects.toThrow(LockTimeoutError);
    expect(section.runs).toBe(0);
  });

  it('have their lock error logged by Nest otherwise', async () => {
    const error = jest.spyOn(Logger.prototype, 'error').mockImplementation();
    await using _ = await app.get(LockService).acquire('stock:a');
    await events.emitAsync('suppressed', { sku: 'a' });
    expect(error.mock.calls.flat()).toContainEqual(expect.stringContaining('LockTimeoutError'));
    error.mockRestore();
  });
});
