import { setTimeout as delay } from 'node:timers/promises';
import { Entity, EntityManager, PrimaryKey, Property } from '@mikro-orm/core';
import { MikroOrmModule } from '@mikro-orm/nestjs';
import { PostgreSqlDriver } from '@mikro-orm/postgresql';
import {
  Controller,
  Injectable,
  Module,
  Post,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { APP_INTERCEPTOR, NestFactory } from '@nestjs/core';
import { Locked, RedisLockModule } from 'nest-redis-lock';
import { catchError, concatMap, from, switchMap, type Observable } from 'rxjs';
import { httpShop } from '../support/http-shop.js';
import { PATIENCE, scenario, STOCK, tryShop } from '../support/scenario.js';
import { POSTGRES_URL, StockTable } from '../support/stock-table.js';

const SCHEMA = `mikro_orm_${process.pid}`;

@Entity({ tableName: 'stock', schema: SCHEMA })
class Stock {
  @PrimaryKey({ type: 'integer' })
  id!: number;

  @Property({ type: 'integer' })
  sold!: number;
}

/** A transaction of the request's own EntityManager; the commit writes what the handler changed. */
@Injectable()
class TransactionInterceptor implements NestInterceptor {
  constructor(private readonly em: EntityManager) {}

  intercept(_context: ExecutionContext, next: CallHandler<void>): Observable<string> {
    return from(this.em.begin()).pipe(
      switchMap(() => next.handle()),
      concatMap(async () => {
        await delay(5);
        await this.em.commit();
        return 'committed';
      }),
      catchError(async (error: unknown) => {
        await this.em.rollback();
        throw error;
      }),
    );
  }
}

@Controller('orders')
class OrdersController {
  constructor(private readonly em: EntityManager) {}

  @Post()
  @Locked(STOCK, { wait: PATIENCE })
  async place(): Promise<void> {
    const stock = await this.em.findOneOrFail(Stock, 1);
    await delay(2);
    stock.sold += 1;
  }

  @Post('impatient')
  @Locked(STOCK, { wait: 0 })
  async placeImpatiently(): Promise<void> {}
}

@Module({
  imports: [
    MikroOrmModule.forRoot({
      driver: PostgreSqlDriver,
      clientUrl: POSTGRES_URL,
      pool: { min: 0, max: 20 },
      entities: [Stock],
      discovery: { disableDynamicFileAccess: true },
    }),
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
