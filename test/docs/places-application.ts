/** An application of all classes that these modules export, with GraphQL, gateways, queues and CQRS. */
export function placesApplication(modules: readonly string[]): Record<string, string> {
  const files = modules.map((source, index) => [`place-${index}.ts`, source]);
  const imports = modules.map((_, index) => `import * as place${index} from './place-${index}.js';`);
  return { ...Object.fromEntries(files), 'main.ts': `${imports.join('\n')}\n${mainOf(modules)}` };
}

function mainOf(modules: readonly string[]): string {
  return `
import { ApolloDriver } from '@nestjs/apollo';
import { BullModule } from '@nestjs/bullmq';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { CqrsModule } from '@nestjs/cqrs';
import { GraphQLModule } from '@nestjs/graphql';
import { RedisLockModule } from 'nest-redis-lock';

const redis = new URL(process.env['REDIS_URL'] ?? '');
const places = { ${modules.map((_, index) => `...place${index}`).join(', ')} };

@Module({
  imports: [
    RedisLockModule.forRoot({ connection: redis.href }),
    GraphQLModule.forRoot({ driver: ApolloDriver, autoSchemaFile: true }),
    BullModule.forRoot({ connection: { host: redis.hostname, port: Number(redis.port) } }),
    CqrsModule.forRoot(),
  ],
  controllers: [places.StockController],
  providers: [places.ProductResolver, places.BiddingGateway, places.InvoicesProcessor, places.ReserveHandler],
})
class AppModule {}

async function main(): Promise<void> {
  const app = await NestFactory.create(AppModule, { logger: ['error'] });
  await app.listen(Number(process.env['PORT']), '127.0.0.1');
}

void main();
`;
}
