import type { INestApplication } from '@nestjs/common';
import { LockService } from 'nest-redis-lock';
import type { Shop } from './scenario.js';
import { Stock } from './stock.js';

/** Starts to listen, and places orders by HTTP. */
export async function httpShop(app: INestApplication): Promise<Shop> {
  await app.listen(0, '127.0.0.1');
  const url = await app.getUrl();
  const stock = app.get(Stock);
  return {
    locks: app.get(LockService),
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
    sold: () => stock.sold,
  };
}
