import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';

const ROUND_TRIP = 5;

/** Stands for a payment provider that answers within a few milliseconds. */
@Injectable()
export class PaymentService {
  async charge(): Promise<void> {
    await delay(ROUND_TRIP);
  }
}
