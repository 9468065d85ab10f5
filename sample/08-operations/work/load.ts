import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { type BeforeApplicationShutdown, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { isLockError } from 'nest-redis-lock';
import { ShopService } from './shop.service.js';

const BUYERS = 12;
const CARTS = 60;
const SKUS = ['sneaker', 'sneaker', 'sneaker', 'boot', 'laces'];

/** Keeps the instance busy until it ends. */
@Injectable()
export class Load implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly closing = new AbortController();
  private carts = 0;

  constructor(private readonly shop: ShopService) {}

  onApplicationBootstrap(): void {
    for (let buyer = 0; buyer < BUYERS; buyer += 1) {
      void this.repeat(50, () => this.shop.placeOrder(anyOf(SKUS), between(5, 30)));
    }
    void this.repeat(500, () => this.shop.countBestsellers('shoes', between(20, 200)));
    for (let cart = 0; cart < CARTS; cart += 1) void this.repeat(200, () => this.reserveCart());
    const { signal } = this.closing;
    // All of them listen to it.
    setMaxListeners(0, signal);
    void this.repeat(2_000, () => this.shop.importCatalogue('acme', between(20_000, 60_000), signal));
    void this.repeat(3_000, () => this.shop.buildReport('revenue', between(200, 1_500)));
  }

  beforeApplicationShutdown(): void {
    this.closing.abort();
  }

  private async reserveCart(): Promise<void> {
    this.carts += 1;
    const id = `${process.pid}-${this.carts}`;
    await this.shop.reserveCart(id, between(2_000, 20_000), this.closing.signal);
  }

  /** Again and again, whatever comes of it, with pauses of about so many milliseconds. */
  private async repeat(pause: number, work: () => Promise<unknown>): Promise<void> {
    const { signal } = this.closing;
    while (!signal.aborted) {
      await work().catch((error: unknown) => {
        if (!isLockError(error) && !isAbort(error)) throw error;
      });
      await delay(between(0, 2 * pause), undefined, { signal }).catch(() => {});
    }
  }
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}

function anyOf<T>(list: readonly [T, ...T[]] | readonly T[]): T {
  const [first] = list;
  const found = list[Math.floor(Math.random() * list.length)] ?? first;
  if (found === undefined) throw new Error('There is nothing to choose from');
  return found;
}

function between(least: number, most: number): number {
  return least + Math.random() * (most - least);
}
