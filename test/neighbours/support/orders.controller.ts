import { Controller, Post } from '@nestjs/common';
import { Locked } from 'nest-redis-lock';
import { PATIENCE, STOCK } from './scenario.js';
import { Stock, type Order } from './stock.js';

@Controller('orders')
export class OrdersController {
  constructor(private readonly stock: Stock) {}

  @Post()
  @Locked(STOCK, { wait: PATIENCE })
  place(): Promise<Order> {
    return this.stock.order();
  }

  @Post('impatient')
  @Locked(STOCK, { wait: 0 })
  placeImpatiently(): Promise<Order> {
    return this.stock.order();
  }
}
