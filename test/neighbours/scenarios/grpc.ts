import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import {
  Controller,
  Injectable,
  Module,
  UseFilters,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { ClientGrpcProxy, GrpcMethod, Transport, type GrpcOptions } from '@nestjs/microservices';
import { Locked, LockExceptionFilter, LockService, RedisLockModule } from 'nest-redis-lock';
import { firstValueFrom, map, type Observable } from 'rxjs';
import { CommitInterceptor } from '../support/commit.interceptor.js';
import { listen } from '../support/message-shop.js';
import { PATIENCE, scenario, STOCK, tryShop } from '../support/scenario.js';
import { Stock, type Order } from '../support/stock.js';

interface Placed {
  readonly state: string;
}

@Injectable()
class MessageInterceptor implements NestInterceptor<string, Placed> {
  intercept(_context: ExecutionContext, next: CallHandler<string>): Observable<Placed> {
    return next.handle().pipe(map((state) => ({ state })));
  }
}

@Controller()
@UseFilters(LockExceptionFilter)
class OrdersController {
  constructor(private readonly stock: Stock) {}

  @GrpcMethod('Orders', 'Place')
  @Locked(STOCK, { wait: PATIENCE })
  place(): Promise<Order> {
    return this.stock.order();
  }

  @GrpcMethod('Orders', 'PlaceImpatiently')
  @Locked(STOCK, { wait: 0 })
  placeImpatiently(): Promise<Order> {
    return this.stock.order();
  }
}

@Module({
  imports: [RedisLockModule.forRoot({ connection: process.env['REDIS_URL'] })],
  controllers: [OrdersController],
  providers: [
    Stock,
    { provide: APP_INTERCEPTOR, useClass: MessageInterceptor },
    { provide: APP_INTERCEPTOR, useClass: CommitInterceptor },
  ],
})
class ShopModule {}

interface Orders {
  place(nothing: object): Observable<Placed>;
  placeImpatiently(nothing: object): Observable<Placed>;
}

scenario(async () => {
  const grpc: GrpcOptions = {
    transport: Transport.GRPC,
    options: {
      package: 'shop',
      protoPath: join(__dirname, '../support/orders.proto'),
      url: `127.0.0.1:${process.env['PORT']}`,
    },
  };
  const app = await listen(ShopModule, grpc);
  const client = new ClientGrpcProxy(grpc.options);
  const orders = client.getService<Orders>('Orders');
  await tryShop({
    locks: app.get(LockService),
    place: () => firstValueFrom(orders.place({})),
    reply: { state: 'committed' },
    placeImpatiently: () =>
      firstValueFrom(orders.placeImpatiently({})).catch(({ code }: { code: unknown }) => ({ code })),
    refusal: { code: status.ABORTED },
    sold: () => app.get(Stock).sold,
  });
  client.close();
  await app.close();
});
