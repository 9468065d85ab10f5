import { randomUUID } from 'node:crypto';
import { ConflictException, Injectable, NotFoundException } from '@nestjs/common';
import type { Order } from './order.interface.js';
import { PaymentService } from './payment.service.js';
import type { PlaceOrderDto } from './place-order.dto.js';
import { StockRepository } from './stock.repository.js';

/**
 * Reads the stock, takes the payment, writes the stock.
 *
 * Between the reading and the writing other buyers read the same stock, unless the caller holds a lock.
 */
@Injectable()
export class OrdersService {
  constructor(
    private readonly stock: StockRepository,
    private readonly payment: PaymentService,
  ) {}

  /**
   * @throws NotFoundException for a product that is not sold here.
   * @throws ConflictException when fewer are left than ordered.
   */
  async place({ sku, quantity }: PlaceOrderDto): Promise<Order> {
    const left = await this.stock.left(sku);
    if (left === undefined) throw new NotFoundException(`There is no product ${sku}`);
    if (left < quantity) throw new ConflictException(`${sku} is sold out`);

    await this.payment.charge();

    const order = { id: randomUUID(), sku, quantity };
    await this.stock.sell(order, left - quantity);
    return order;
  }
}
