import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';

/** Milliseconds. */
const ROUND_TRIP = Number(process.env.PAYMENT_TIME ?? 20);

/** Stands for a payment provider that answers within a few milliseconds. */
@Injectable()
export class PaymentService {
  async charge(): Promise<void> {
    await delay(ROUND_TRIP);
  }
}
