import { Controller, Injectable, UseInterceptors, type INestApplication } from '@nestjs/common';
import { MessagePattern, Server, type CustomTransportStrategy } from '@nestjs/microservices';
import { Test } from '@nestjs/testing';
import { defer, firstValueFrom, mergeMap, type Observable } from 'rxjs';
import { Locked, LockService } from '../../../lib/index.js';
import { LockTestingModule } from '../../../lib/testing/index.js';
import { Journal } from '../../e2e/support/journal.js';
import { TransactionInterceptor } from '../../e2e/support/transaction.interceptor.js';
import { waitFor } from '../../support/wait-for.js';

/** A transport within the process, whose clients may unsubscribe from a reply. */
class LocalTransport extends Server implements CustomTransportStrategy {
  listen(callback: () => void): void {
    callback();
  }

  close(): void {}

  on(): void {}

  unwrap(): never {
    throw new Error('There is no other server.');
  }

  request(pattern: string): Observable<unknown> {
    const handler = this.getHandlerByPattern(pattern);
    if (handler === null) throw new Error(`There is no handler of ${pattern}.`);
    return defer(() => handler('order')).pipe(mergeMap((reply) => this.transformToObservable(reply)));
  }
}

@Injectable()
class Orders {
  @Locked('order')
  async pay(): Promise<void> {}
}

@Controller()
class OrdersController {
  constructor(
    private readonly orders: Orders,
    private readonly journal: Journal,
  ) {}

  @MessagePattern('its own lock')
  @Locked('order')
  async own(): Promise<void> {}

  @MessagePattern('the lock of a service')
  service(): Promise<void> {
    return this.orders.pay();
  }

  @MessagePattern('in a transaction')
  @UseInterceptors(TransactionInterceptor)
  @Locked('order')
  async inTransaction(): Promise<string> {
    this.journal.write('begin');
    return 'done';
  }
}

describe.each([true, false])('a locked message handler with inheritAppConfig: %p', (inheritAppConfig) => {
  let app: INestApplication;
  let locks: LockService;
  let transport: LocalTransport;

  beforeEach(async () => {
    const module = await Test.createTestingModule({
      imports: [LockTestingModule.forRoot()],
      controllers: [OrdersController],
      providers: [Orders, Journal],
    }).compile();
    app = module.createNestApplication({ logger: false });
    transport = new LocalTransport();
    app.connectMicroservice({ strategy: transport }, { inheritAppConfig });
    await app.startAllMicroservices();
    await app.init();
    locks = app.get(LockService);
  });
  afterEach(() => app.close());

  it.each(['its own lock', 'the lock of a service'])(
    'ends its wait for %s when the client unsubscribes',
    async (pattern) => {
      await using _ = await locks.acquire('order');
      const reply = transport.request(pattern).subscribe();
      await waitFor(() => locks.holds()[0]?.waiting === 1);
      reply.unsubscribe();
      await waitFor(() => locks.holds()[0]?.waiting === 0);
    },
  );

  it('keeps its entry into a hold around the message until its interceptors have ended', async () => {
    const request = (): Promise<unknown> => firstValueFrom(transport.request('in a transaction'));
    await locks.using('order', () => Promise.all([request(), request()]));
    expect(app.get(Journal).lines).toEqual(['begin', 'commit', 'begin', 'commit']);
  });
});
