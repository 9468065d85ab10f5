import { setTimeout as delay } from 'node:timers/promises';
import {
  Controller,
  Injectable,
  Module,
  Post,
  Req,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { APP_INTERCEPTOR, NestFactory } from '@nestjs/core';
import { InjectDataSource, TypeOrmModule } from '@nestjs/typeorm';
import { Locked, RedisLockModule } from 'nest-redis-lock';
import { catchError, concatMap, finalize, from, switchMap, type Observable } from 'rxjs';
import { Column, DataSource, Entity, PrimaryColumn, type QueryRunner } from 'typeorm';
import { httpShop } from '../support/http-shop.js';
import { PATIENCE, scenario, STOCK, tryShop } from '../support/scenario.js';
import { POSTGRES_URL, StockTable } from '../support/stock-table.js';

const SCHEMA = `typeorm_${process.pid}`;

@Entity({ name: 'stock', schema: SCHEMA })
class Stock {
  @PrimaryColumn('integer')
  id!: number;

  @Column('integer')
  sold!: number;
}

interface OrderRequest {
  runner: QueryRunner;
}

/** Begins when it is subscribed, and calls the handler then; commits after the handler. */
@Injectable()
class TransactionInterceptor implements NestInterceptor {
  constructor(@InjectDataSource() private readonly source: DataSource) {}

  intercept(context: ExecutionContext, next: CallHandler<void>): Observable<string> {
    const runner = this.source.createQueryRunner();
    context.switchToHttp().getRequest<OrderRequest>().runner = runner;
    return from(runner.startTransaction()).pipe(
      switchMap(() => next.handle()),
      concatMap(async () => {
        await delay(5);
        await runner.commitTransaction();
        return 'committed';
      }),
      catchError(async (error: unknown) => {
        await runner.rollbackTransaction();
        throw error;
      }),
      finalize(() => void runner.release()),
    );
  }
}

@Controller('orders')
class OrdersController {
  @Post()
  @Locked(STOCK, { wait: PATIENCE })
  async place(@Req() { runner }: OrderRequest): Promise<void> {
    const { sold } = await runner.manager.findOneByOrFail(Stock, { id: 1 });
    await delay(2);
    await runner.manager.update(Stock, 1, { sold: sold + 1 });
  }

  @Post('impatient')
  @Locked(STOCK, { wait: 0 })
  async placeImpatiently(): Promise<void> {}
}

@Module({
  imports: [
    TypeOrmModule.forRoot({ type: 'postgres', url: POSTGRES_URL, poolSize: 20, entities: [Stock] }),
    RedisLockModule.forRoot({ connection: process.env['REDIS_URL'] }),
  ],
  controllers: [OrdersController],
  providers: [{ provide: APP_INTERCEPTOR, useClass: TransactionInterceptor }],
})
class ShopModule {}

scenario(async () => {
  const table = await StockTable.create(SCHEMA);
  const app = await NestFactory.create(ShopModule, { logger: ['warn', 'error', 'fatal'] });
  await tryShop(await httpShop(app, () => table.sold()));
  await app.close();
  await table.drop();
});
