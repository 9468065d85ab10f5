import type { CodeBlock } from './markdown-document.js';
import { sourceOf } from './snippet.js';

/** What the members around fragments find in their class; see fragment-context.ts. */
const CONTEXT = `
export class Receipt {}
export function Transactional(): MethodDecorator {
  return () => {};
}
export class Application {
  readonly payments = { charge: (_order: unknown) => Promise.resolve(new Receipt()) };
  readonly reports = { deleteOld: () => Promise.resolve() };
}
`;

/**
 * An application of all classes in these blocks, on the transports that they are for. Fragments are members of controllers.
 *
 * `POST /call` calls what no client outside can call, and `GET /locked` tells which methods have had their lock.
 */
export function placesApplication(blocks: readonly CodeBlock[]): Record<string, string> {
  const files = blocks.map((block, index) => [`place-${index}.ts`, moduleOf(block, index)]);
  const imports = blocks.map((_, index) => `import * as place${index} from './place-${index}.js';`);
  return {
    ...Object.fromEntries(files),
    'fragment-context.ts': CONTEXT,
    'main.ts': `${imports.join('\n')}\n${mainOf(blocks)}`,
  };
}

function moduleOf(block: CodeBlock, index: number): string {
  if (!block.marks.includes('members')) return block.text;
  const fragment = sourceOf(block).replace(
    'export abstract class Fragment',
    `@Controller() export class Fragment${index}`,
  );
  return `import { Controller } from '@nestjs/common'; ${fragment}`;
}

function mainOf(blocks: readonly CodeBlock[]): string {
  const fragments = blocks.flatMap(({ marks }, index) =>
    marks.includes('members') ? [`places.Fragment${index}`] : [],
  );
  return `
import { ApolloDriver } from '@nestjs/apollo';
import { BullModule, getQueueToken } from '@nestjs/bullmq';
import { Controller, Get, Module, Post } from '@nestjs/common';
import { ModuleRef, NestFactory } from '@nestjs/core';
import { CommandBus, CqrsModule } from '@nestjs/cqrs';
import { EventEmitter2, EventEmitterModule } from '@nestjs/event-emitter';
import { GraphQLModule } from '@nestjs/graphql';
import { ClientProxyFactory, type RedisOptions, Transport } from '@nestjs/microservices';
import { RedisLockModule } from 'nest-redis-lock';
import { listenToLocks } from 'nest-redis-lock/diagnostics';
import { firstValueFrom } from 'rxjs';

const redis = new URL(process.env['REDIS_URL'] ?? '');
const server = { host: redis.hostname, port: Number(redis.port) };
const messages: RedisOptions = { transport: Transport.REDIS, options: server };
const places = { ${blocks.map((_, index) => `...place${index}`).join(', ')} };
const locked = new Set<string>();

listenToLocks({
  'nest-redis-lock:acquire:granted': ({ acquire }) => {
    if (acquire.method !== undefined) locked.add(acquire.method.replace(/.*\\./, ''));
  },
});

@Controller()
class CallsController {
  constructor(private readonly application: ModuleRef) {}

  @Get('locked')
  locked(): string[] {
    return [...locked].sort();
  }

  @Post('call')
  async call(): Promise<unknown> {
    const find = <T>(token: unknown): T => this.application.get(token as never, { strict: false });
    const client = ClientProxyFactory.create(messages);
    await find<any>(getQueueToken('invoices')).add('invoice', { customer: 'one' });
    await find<EventEmitter2>(EventEmitter2).emitAsync('order.placed', { id: '1' });
    const replies = [
      await firstValueFrom(client.send('stock.reserve', { sku: 'book' })),
      await find<CommandBus>(CommandBus).execute(new places.Reserve('book')),
      await places.handler('a file'),
    ];
    client.close();
    return replies;
  }
}

@Module({
  imports: [
    RedisLockModule.forRoot({ connection: redis.href }),
    GraphQLModule.forRoot({ driver: ApolloDriver, autoSchemaFile: true }),
    BullModule.forRoot({ connection: server }),
    BullModule.registerQueue({ name: 'invoices' }),
    CqrsModule.forRoot(),
    EventEmitterModule.forRoot(),
  ],
  controllers: [CallsController, places.StockController, ${fragments.join(', ')}],
  providers: [places.ProductResolver, places.BiddingGateway, places.InvoicesProcessor, places.ReserveHandler],
})
class AppModule {}

async function main(): Promise<void> {
  const app = await NestFactory.create(AppModule, { logger: ['error'] });
  app.connectMicroservice(messages, { inheritAppConfig: true });
  await app.startAllMicroservices();
  await app.listen(Number(process.env['PORT']), '127.0.0.1');
}

void main();
`;
}
