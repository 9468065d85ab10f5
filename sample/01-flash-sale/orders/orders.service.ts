import { randomUUID } from 'node:crypto';
import { ConflictException, Injectable, NotFoundException } from '@nestjs/common';
import type { Order } from './order.interface.js';
import { PaymentService } from './payment.service.js';
import type { PlaceOrderDto } from './place-order.dto.js';
import { StockRepository, type Withdrawal } from './stock.repository.js';

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
  async place(wish: PlaceOrderDto): Promise<Order> {
    const withdrawal = await this.check(wish);
    await this.payment.charge();
    await this.stock.sell([withdrawal]);
    return withdrawal.order;
  }

  /** The same for several products: all of them or none, with one payment. */
  async placeAll(wishes: readonly PlaceOrderDto[]): Promise<Order[]> {
    const withdrawals = await Promise.all(wishes.map((wish) => this.check(wish)));
    await this.payment.charge();
    await this.stock.sell(withdrawals);
    return withdrawals.map(({ order }) => order);
  }

  private async check({ sku, quantity }: PlaceOrderDto): Promise<Withdrawal> {
    const left = await this.stock.left(sku);
    if (left === undefined) throw new NotFoundException(`There is no product ${sku}`);
    if (left < quantity) throw new ConflictException(`${sku} is sold out`);
    return { order: { id: randomUUID(), sku, quantity }, left: left - quantity };
  }
}
