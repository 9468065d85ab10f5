import type { INestApplication } from '@nestjs/common';
import { LockService } from 'nest-redis-lock';
import type { Shop } from './scenario.js';
import { Stock } from './stock.js';

/** Starts to listen, and places orders by HTTP. Without `sold`, the application has a {@link Stock}. */
export async function httpShop(
  app: INestApplication,
  sold: Shop['sold'] = () => app.get(Stock).sold,
): Promise<Shop> {
  await app.listen(0, '127.0.0.1');
  return shopAt(await app.getUrl(), { locks: app.get(LockService), sold });
}

/** A server with the routes of `OrdersController`, and with replies after the commit. */
export function shopAt(url: string, { locks, sold }: Pick<Shop, 'locks' | 'sold'>): Shop {
  return {
    locks,
    async place() {
      const response = await fetch(`${url}/orders`, { method: 'POST' });
      return { status: response.status, body: await response.text() };
    },
    reply: { status: 201, body: 'committed' },
    async placeImpatiently() {
      const response = await fetch(`${url}/orders/impatient`, { method: 'POST' });
      const { error } = (await response.json()) as { error?: unknown };
      return { status: response.status, retryAfter: response.headers.get('retry-after'), error };
    },
    refusal: { status: 423, retryAfter: '1', error: 'Locked' },
    sold,
  };
}
