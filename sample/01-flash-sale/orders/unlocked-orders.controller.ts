import { Body, Controller, Post } from '@nestjs/common';
import type { Order } from './order.interface.js';
import { OrdersService } from './orders.service.js';
import { PlaceOrderDto } from './place-order.dto.js';

/** The same code without the lock: sells what is not there. */
@Controller('unlocked/orders')
export class UnlockedOrdersController {
  constructor(private readonly orders: OrdersService) {}

  @Post()
  place(@Body() order: PlaceOrderDto): Promise<Order> {
    return this.orders.place(order);
  }
}
