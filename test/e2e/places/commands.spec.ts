import {
  CommandBus,
  CommandHandler,
  CqrsModule,
  EventBus,
  EventsHandler,
  type ICommandHandler,
} from '@nestjs/cqrs';
import { Locked, LockService, LockTimeoutError, RedisLockModule } from '../../../lib/index.js';
import { startModule } from '../support/start-module.js';
import { duringEachTest, duringTests } from '../../support/during-tests.js';
import { RedisServer } from '../../support/redis-server.js';
import { waitFor } from '../../support/wait-for.js';
import { CriticalSection } from './support/critical-section.js';

class Reserve {
  constructor(readonly sku: string) {}
}

class Attempt extends Reserve {}

class Reserved extends Reserve {}

@CommandHandler(Reserve)
class ReserveHandler implements ICommandHandler<Reserve> {
  constructor(private readonly section: CriticalSection) {}

  @Locked('stock:<0.sku>')
  async execute(_command: Reserve): Promise<number> {
    return this.section.run();
  }
}

@CommandHandler(Attempt)
class AttemptHandler implements ICommandHandler<Attempt> {
  constructor(private readonly section: CriticalSection) {}

  @Locked('stock:<0.sku>', { wait: 0 })
  async execute(_command: Attempt): Promise<number> {
    return this.section.run();
  }
}

@EventsHandler(Reserved)
class ReservedHandler {
  constructor(private readonly section: CriticalSection) {}

  @Locked('stock:<0.sku>')
  async handle(_event: Reserved): Promise<void> {
    await this.section.run();
  }
}

describe('locked handlers of CQRS', () => {
  const server = duringTests(() => RedisServer.start());
  const app = duringEachTest(() =>
    startModule({
      imports: [CqrsModule.forRoot(), RedisLockModule.forRoot({ connection: server.url })],
      providers: [ReserveHandler, AttemptHandler, ReservedHandler, CriticalSection],
    }),
  );
  let section: CriticalSection;

  beforeEach(() => {
    section = app.get(CriticalSection);
  });

  it('exclude each other, commands', async () => {
    const bus = app.get(CommandBus);
    const results = await Promise.all([1, 2, 3].map(() => bus.execute<Reserve, number>(new Reserve('a'))));
    expect(results).toEqual([1, 2, 3]);
    expect(section.most).toBe(1);
  });

  it('exclude each other, events', async () => {
    const bus = app.get(EventBus);
    for (const sku of ['a', 'a', 'a']) bus.publish(new Reserved(sku));
    await waitFor(() => section.runs === 3);
    expect(section.most).toBe(1);
  });

  it('reject the command with the lock error', async () => {
    await using _ = await app.get(LockService).acquire('stock:a');
    await expect(app.get(CommandBus).execute(new Attempt('a'))).rejects.toThrow(LockTimeoutError);
    expect(section.runs).toBe(0);
  });
});
