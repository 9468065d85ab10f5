import serverlessExpress from '@codegenie/serverless-express';
import { Module } from '@nestjs/common';
import { APP_INTERCEPTOR, NestFactory } from '@nestjs/core';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda';
import { LockService, RedisLockModule } from 'nest-redis-lock';
import { CommitInterceptor } from '../support/commit.interceptor.js';
import { OrdersController } from '../support/orders.controller.js';
import { scenario, tryShop } from '../support/scenario.js';
import { Stock } from '../support/stock.js';

@Module({
  imports: [RedisLockModule.forRoot({ connection: process.env['REDIS_URL'] })],
  controllers: [OrdersController],
  providers: [Stock, { provide: APP_INTERCEPTOR, useClass: CommitInterceptor }],
})
class ShopModule {}

/** As API Gateway calls a function for `POST path`. */
function eventOf(path: string): APIGatewayProxyEventV2 {
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath: path,
    rawQueryString: '',
    headers: { host: 'shop.example', 'content-length': '0' },
    isBase64Encoded: false,
    requestContext: {
      accountId: '1',
      apiId: 'shop',
      domainName: 'shop.example',
      domainPrefix: 'shop',
      http: { method: 'POST', path, protocol: 'HTTP/1.1', sourceIp: '127.0.0.1', userAgent: 'test' },
      requestId: path,
      routeKey: '$default',
      stage: '$default',
      time: '01/Jan/2026:00:00:00 +0000',
      timeEpoch: 0,
    },
  };
}

scenario(async () => {
  const app = await NestFactory.create(ShopModule, { logger: ['warn', 'error', 'fatal'] });
  await app.init();
  const handle = serverlessExpress<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2>({
    app: app.getHttpAdapter().getInstance(),
  });
  const invoke = async (path: string) => {
    const answer = (await handle(
      eventOf(path),
      {} as Context,
      () => {},
    )) as APIGatewayProxyStructuredResultV2;
    const { statusCode: status, body = '', headers } = answer;
    return { status, body, retryAfter: headers?.['retry-after'] };
  };
  await tryShop({
    locks: app.get(LockService),
    place: () => invoke('/orders'),
    reply: { status: 201, body: 'committed', retryAfter: undefined },
    async placeImpatiently() {
      const { status, retryAfter } = await invoke('/orders/impatient');
      return { status, retryAfter };
    },
    refusal: { status: 423, retryAfter: '1' },
    sold: () => app.get(Stock).sold,
  });
  await app.close();
});
