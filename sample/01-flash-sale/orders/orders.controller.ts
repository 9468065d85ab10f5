import { Body, Controller, Post } from '@nestjs/common';
import { Locked } from 'nest-redis-lock';
import type { Order } from './order.interface.js';
import { OrdersService } from './orders.service.js';
import { PlaceOrderDto } from './place-order.dto.js';

/** One buyer of a product at a time, whichever instance serves the request. */
// #region tour
@Controller('orders')
export class OrdersController {
  constructor(private readonly orders: OrdersService) {}

  @Post()
  @Locked('order:<0.sku>')
  place(@Body() order: PlaceOrderDto): Promise<Order> {
    return this.orders.place(order);
  }
}
// #endregion
