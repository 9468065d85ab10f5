import { Agent, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Body, Controller, Module, Post, type DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Locked, RedisLockModule } from 'nest-redis-lock';
import { collectGarbage } from '../support/collect-garbage.js';
import { serveCalls } from '../support/serve-calls.js';

const HOUR = 3_600_000;

/** Nest alone, or with the module and a route without or with a lock. */
export interface Application {
  readonly platform: 'Express' | 'Fastify';
  readonly module: boolean;
  readonly route: 'plain' | 'locked';
}

@Controller()
class OrdersController {
  @Post('plain')
  async plain(@Body('text') body: string): Promise<number> {
    setTimeout(() => undefined, HOUR).unref();
    return body.length;
  }
}

@Controller()
class LockedController {
  @Post('locked')
  @Locked(() => `order:${Math.random()}`)
  async locked(@Body('text') body: string): Promise<number> {
    setTimeout(() => undefined, HOUR).unref();
    return body.length;
  }
}

@Module({})
class AppModule {}

function moduleOf(connection: string | undefined): DynamicModule {
  return connection === undefined
    ? { module: AppModule, controllers: [OrdersController] }
    : {
        module: AppModule,
        imports: [RedisLockModule.forRoot({ connection })],
        controllers: [OrdersController, LockedController],
      };
}

/** A request that leaves nothing behind at the client. */
async function send(agent: Agent, port: number, path: string, body: string): Promise<void> {
  const headers = { 'content-type': 'application/json', 'content-length': body.length };
  const outgoing = request({ agent, port, path: `/${path}`, method: 'POST', headers });
  const [incoming] = await new Promise<[NodeJS.ReadableStream & { statusCode?: number }]>(
    (resolve, reject) => {
      outgoing.on('response', (response) => resolve([response])).on('error', reject);
      outgoing.end(body);
    },
  );
  const answer = await text(incoming);
  if (incoming.statusCode !== 201) throw new Error(`${incoming.statusCode}: ${answer}`);
}

async function memory(): Promise<number> {
  for (let round = 0; round < 4; round++) {
    await new Promise((resolve) => void setTimeout(resolve, 50));
    collectGarbage();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN;
}

const calls = {
  /**
   * Bytes that remain of each request whose handler has set a timer of an hour: the median of five batches, because V8
   * compiles, and frees code, at times of its own.
   */
  async bytes({ platform, module, route }: Application, size: number, requests: number): Promise<number> {
    const limit = 2 * size + 1_000;
    const root = moduleOf(module ? 'memory' : undefined);
    const app =
      platform === 'Express'
        ? await NestFactory.create<NestExpressApplication>(root, { logger: false })
        : await NestFactory.create(root, new FastifyAdapter({ bodyLimit: limit }), { logger: false });
    if (platform === 'Express') (app as NestExpressApplication).useBodyParser('json', { limit });
    await app.listen(0, '127.0.0.1');
    const { port } = app.getHttpServer().address() as AddressInfo;
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const sendAll = async (count: number): Promise<void> => {
      for (let i = 0; i < count; i++)
        await send(agent, port, module ? route : 'plain', JSON.stringify({ text: 'x'.repeat(size) }));
    };
    await sendAll(requests);
    const growth: number[] = [];
    let before = await memory();
    for (let batch = 0; batch < 5; batch++) {
      await sendAll(requests);
      const after = await memory();
      growth.push(after - before);
      before = after;
    }
    agent.destroy();
    await app.close();
    return median(growth) / requests;
  },
};

export type RequestCalls = typeof calls;

serveCalls(calls);
