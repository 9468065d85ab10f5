import { Module } from '@nestjs/common';
import { DatabaseModule } from '../../support/database/database.module.js';
import { CartsController } from './carts.controller.js';
import { OrdersController } from './orders.controller.js';
import { OrdersService } from './orders.service.js';
import { PaymentService } from './payment.service.js';
import { StockRepository } from './stock.repository.js';
import { UnlockedOrdersController } from './unlocked-orders.controller.js';

@Module({
  imports: [DatabaseModule],
  controllers: [OrdersController, CartsController, UnlockedOrdersController],
  providers: [OrdersService, PaymentService, StockRepository],
})
export class OrdersModule {}
