import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';

/** What an order has written, and what the next order reads after the commit. */
export interface Order {
  readonly sold: number;
}

/** A row of a database: each write becomes visible some milliseconds after the handler has ended. */
@Injectable()
export class Stock {
  sold = 0;

  async order(): Promise<Order> {
    const seen = this.sold;
    await delay(2);
    return { sold: seen + 1 };
  }

  async commit({ sold }: Order): Promise<string> {
    await delay(5 + Math.random() * 15);
    this.sold = sold;
    return 'committed';
  }
}
