import { Body, Controller, Post } from '@nestjs/common';
import { Locked } from 'nest-redis-lock';
import type { Order } from './order.interface.js';
import { OrdersService } from './orders.service.js';
import { PlaceCartDto } from './place-cart.dto.js';

/**
 * All products of a cart at once, or none.
 *
 * The locks are those of `POST /orders`, one for each product. They are taken in the order of their names, so two
 * carts with the same products never wait for each other.
 */
@Controller('carts')
export class CartsController {
  constructor(private readonly orders: OrdersService) {}

  @Post()
  @Locked('order:<0.items[].sku>')
  place(@Body() cart: PlaceCartDto): Promise<Order[]> {
    return this.orders.placeAll(cart.items);
  }
}
