import { setTimeout as delay } from 'node:timers/promises';
import { Controller, Module, Post } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { Locked, RedisLockModule } from 'nest-redis-lock';
import { Column, DataSource, Entity, PrimaryColumn, Repository } from 'typeorm';
import {
  addTransactionalDataSource,
  initializeTransactionalContext,
  Transactional,
} from 'typeorm-transactional';
import { httpShop } from '../support/http-shop.js';
import { PATIENCE, scenario, STOCK, tryShop } from '../support/scenario.js';
import { POSTGRES_URL, StockTable } from '../support/stock-table.js';

const SCHEMA = `typeorm_transactional_${process.pid}`;

@Entity({ name: 'stock', schema: SCHEMA })
class Stock {
  @PrimaryColumn('integer')
  id!: number;

  @Column('integer')
  sold!: number;
}

@Controller('orders')
class OrdersController {
  constructor(@InjectRepository(Stock) private readonly stocks: Repository<Stock>) {}

  @Post()
  @Locked(STOCK, { wait: PATIENCE })
  @Transactional()
  async place(): Promise<string> {
    const { sold } = await this.stocks.findOneByOrFail({ id: 1 });
    await delay(2);
    await this.stocks.update(1, { sold: sold + 1 });
    return 'committed';
  }

  @Post('impatient')
  @Locked(STOCK, { wait: 0 })
  @Transactional()
  async placeImpatiently(): Promise<void> {}
}

@Module({
  imports: [
    TypeOrmModule.forRootAsync({
      useFactory: () => ({ type: 'postgres', url: POSTGRES_URL, poolSize: 20, entities: [Stock] }),
      dataSourceFactory: async (options) => {
        if (!options) throw new Error('No options for the data source');
        return addTransactionalDataSource(new DataSource(options));
      },
    }),
    TypeOrmModule.forFeature([Stock]),
    RedisLockModule.forRoot({ connection: process.env['REDIS_URL'] }),
  ],
  controllers: [OrdersController],
})
class ShopModule {}

scenario(async () => {
  initializeTransactionalContext();
  const table = await StockTable.create(SCHEMA);
  const app = await NestFactory.create(ShopModule, { logger: ['warn', 'error', 'fatal'] });
  await tryShop(await httpShop(app, () => table.sold()));
  await app.close();
  await table.drop();
});
