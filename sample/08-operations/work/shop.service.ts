import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { CurrentLock, type Lock, Locked, Once } from 'nest-redis-lock';

/** What the instances do under locks. Each method is the label of its holds. */
@Injectable()
export class ShopService {
  /** Everybody wants the sneaker: its name is hot. */
  @Locked('order:<0>')
  async placeOrder(_sku: string, payment: number): Promise<void> {
    await delay(payment);
  }

  /** Many names, each held for a while, that nobody else wants. */
  @Locked('cart:<0>')
  async reserveCart(_id: string, time: number, signal: AbortSignal): Promise<void> {
    await delay(time, undefined, { signal });
  }

  /** One instance does it, and the others do not wait. */
  @Locked('import:<0>', { wait: 0, onTimeout: 'skip' })
  async importCatalogue(_supplier: string, time: number, signal: AbortSignal): Promise<void> {
    await delay(time, undefined, { signal });
  }

  /** One instance counts, and all others receive its result for two seconds. */
  @Once('bestsellers:<0>', { keep: '2s' })
  async countBestsellers(_category: string, time: number): Promise<string[]> {
    await delay(time);
    return ['sneaker', 'boot', 'laces'];
  }

  /** Takes longer than it may now and then: such holds are lost. */
  @Locked('report:<0>', { maxHold: 1_000, wait: 500 })
  async buildReport(_id: string, time: number, @CurrentLock() lock?: Lock): Promise<void> {
    await delay(time, undefined, { ...(lock && { signal: lock.signal }) });
  }
}
