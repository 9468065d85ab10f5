import type { INestMicroservice, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { ClientProxy, MicroserviceOptions } from '@nestjs/microservices';
import { firstValueFrom } from 'rxjs';
import type { Shop } from './scenario.js';

/** Starts to listen for messages. */
export async function listen(module: Type, options: MicroserviceOptions): Promise<INestMicroservice> {
  const app = await NestFactory.createMicroservice<MicroserviceOptions>(module, {
    ...options,
    logger: ['warn', 'error', 'fatal'],
  });
  await app.listen();
  return app;
}

/** Handlers of `orders.place` and `orders.impatient`, with replies after the commit. */
export function messageShop(client: ClientProxy, { locks, sold }: Pick<Shop, 'locks' | 'sold'>): Shop {
  const send = (pattern: string) => firstValueFrom(client.send<unknown>(pattern, {}));
  return {
    locks,
    place: () => send('orders.place'),
    reply: 'committed',
    async placeImpatiently() {
      const refused = send('orders.impatient').catch((error: unknown) => error);
      const { status, code, retryAfter } = (await refused) as Record<string, unknown>;
      return { status, code, retryAfter };
    },
    refusal: { status: 'error', code: 'LOCK_TIMEOUT', retryAfter: 1 },
    sold,
  };
}
