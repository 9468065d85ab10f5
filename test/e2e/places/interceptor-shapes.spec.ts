import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import { Controller, Injectable, UseInterceptors, type Type } from '@nestjs/common';
import { Args, GraphQLModule, Query, Resolver } from '@nestjs/graphql';
import {
  ClientProxyFactory,
  MessagePattern,
  Payload,
  Transport,
  type ClientProxy,
} from '@nestjs/microservices';
import { ExpressAdapter } from '@nestjs/platform-express';
import { WsAdapter } from '@nestjs/platform-ws';
import { MessageBody, SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { firstValueFrom } from 'rxjs';
import { WebSocket } from 'ws';
import { Locked, RedisLockModule } from '../../../lib/index.js';
import { duringTests } from '../../support/during-tests.js';
import { freePort } from '../../support/free-port.js';
import { RedisServer } from '../../support/redis-server.js';
import { waitFor } from '../../support/wait-for.js';
import { CallbackPool } from '../support/callback-pool.js';
import { HttpApplication } from '../support/http-application.js';
import { onceCalling, type Shape } from '../support/interceptor-shapes.js';
import { Journal } from '../support/journal.js';

@Injectable()
abstract class Handlers {
  constructor(private readonly journal: Journal) {}

  protected async work(): Promise<string> {
    this.journal.write('begin');
    return 'done';
  }
}

function controllerWith(shape: Shape): Type {
  @Controller()
  @UseInterceptors(shape)
  class OrdersController extends Handlers {
    @MessagePattern('order')
    @Locked('order:<0>')
    order(@Payload() _id: string): Promise<string> {
      return this.work();
    }
  }
  return OrdersController;
}

function gatewayWith(shape: Shape): Type {
  @WebSocketGateway()
  @UseInterceptors(shape)
  class OrdersGateway extends Handlers {
    @SubscribeMessage('order')
    @Locked('order:<0>')
    order(@MessageBody() _id: string): Promise<string> {
      return this.work();
    }
  }
  return OrdersGateway;
}

function resolverWith(shape: Shape): Type {
  @Resolver()
  @UseInterceptors(shape)
  class OrdersResolver extends Handlers {
    @Query(() => String)
    @Locked('order:<0>')
    order(@Args('id') _id: string): Promise<string> {
      return this.work();
    }
  }
  return OrdersResolver;
}

const CLIENTS = 5;
const clients = Array.from({ length: CLIENTS });

describe.each(onceCalling)(
  'an interceptor that calls the handler %s keeps the lock until its commit',
  (_how, shape) => {
    const server = duringTests(() => RedisServer.start());
    let app: HttpApplication | undefined;
    let client: ClientProxy | undefined;
    let socket: WebSocket | undefined;

    afterEach(async () => {
      await client?.close();
      socket?.terminate();
      await app?.stop();
      app = client = socket = undefined;
    });

    const shared = () => ({
      imports: [RedisLockModule.forRoot({ connection: server.url })],
      providers: [Journal, CallbackPool],
    });

    async function expectInTurn(): Promise<void> {
      const { lines } = (app as HttpApplication).nest.get(Journal);
      await waitFor(() => lines.length === 2 * CLIENTS);
      expect(lines).toEqual(clients.flatMap(() => ['begin', 'commit']));
    }

    it('over TCP', async () => {
      const options = {
        transport: Transport.TCP as const,
        options: { host: '127.0.0.1', port: await freePort() },
      };
      app = await HttpApplication.start(
        new ExpressAdapter(),
        { ...shared(), controllers: [controllerWith(shape)] },
        { configure: (nest) => nest.connectMicroservice(options) },
      );
      await app.nest.startAllMicroservices();
      const proxy = (client = ClientProxyFactory.create(options));
      const replies = clients.map(() => firstValueFrom(proxy.send<string>('order', '7')));
      expect(await Promise.all(replies)).toEqual(clients.map(() => 'done'));
      await expectInTurn();
    });

    it('in a gateway', async () => {
      const metadata = shared();
      app = await HttpApplication.start(
        new ExpressAdapter(),
        { ...metadata, providers: [...metadata.providers, gatewayWith(shape)] },
        { configure: (nest) => nest.useWebSocketAdapter(new WsAdapter(nest)) },
      );
      const opened = (socket = new WebSocket((await app.nest.getUrl()).replace('http', 'ws')));
      await new Promise((resolve) => opened.once('open', resolve));
      for (const _ of clients) opened.send(JSON.stringify({ event: 'order', data: '7' }));
      await expectInTurn();
    });

    it('in GraphQL', async () => {
      const { imports, providers } = shared();
      const running = await HttpApplication.start(new ExpressAdapter(), {
        imports: [
          ...imports,
          GraphQLModule.forRoot<ApolloDriverConfig>({ driver: ApolloDriver, autoSchemaFile: true }),
        ],
        providers: [...providers, resolverWith(shape)],
      });
      app = running;
      const bodies = await Promise.all(
        clients.map(async () => (await running.post('/graphql', { query: '{ order(id: "7") }' })).json()),
      );
      expect(bodies).toEqual(clients.map(() => ({ data: { order: 'done' } })));
      await expectInTurn();
    });
  },
);
