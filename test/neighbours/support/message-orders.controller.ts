import { Controller, UseFilters } from '@nestjs/common';
import { MessagePattern } from '@nestjs/microservices';
import { Locked, LockExceptionFilter, LockService } from 'nest-redis-lock';
import { PATIENCE, STOCK } from './scenario.js';
import { Stock, type Order } from './stock.js';

@Controller()
@UseFilters(LockExceptionFilter)
export class MessageOrdersController {
  constructor(
    private readonly locks: LockService,
    protected readonly stock: Stock,
  ) {}

  @MessagePattern('orders.place')
  @Locked(STOCK, { wait: PATIENCE })
  place(): Promise<Order> {
    // Nested: the async context is that of the message.
    return this.locks.using(STOCK, { wait: 0 }, () => this.stock.order());
  }

  @MessagePattern('orders.impatient')
  @Locked(STOCK, { wait: 0 })
  placeImpatiently(): Promise<Order> {
    return this.stock.order();
  }
}
