import type { AddressInfo, Server } from 'node:net';
import { Controller, UseFilters } from '@nestjs/common';
import { applyDecorators } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ClientTCP, MessagePattern, RpcException, Transport as Transports } from '@nestjs/microservices';
import { LockExceptionFilter } from 'nest-redis-lock';
import { lastValueFrom, toArray } from 'rxjs';
import type { Call, Transport } from './transport.js';

/** Messages over TCP. A handler does not hear that its client has left. */
export const tcpTransport: Transport = {
  imports: [],
  decorateClass: (options) => applyDecorators(Controller(options), UseFilters(LockExceptionFilter)),
  route: (route) => MessagePattern(route),
  valueOf: (text) => text,
  errorOf: (text) => new RpcException({ reason: text }),
  async start(module, _scene, options) {
    const app = await NestFactory.createMicroservice(module, {
      ...options,
      transport: Transports.TCP,
      options: { host: '127.0.0.1', port: 0 },
    });
    await app.listen();
    const { port } = app.unwrap<Server>().address() as AddressInfo;
    const clients = new Set<ClientTCP>();
    const call = (id: string, route: string): Call => {
      const client = new ClientTCP({ host: '127.0.0.1', port });
      clients.add(client);
      return {
        answer: lastValueFrom(client.send(route, { id }).pipe(toArray())).then(
          (values) => JSON.stringify(values),
          (error: unknown) => describe(error),
        ),
        leave: () => client.close(),
      };
    };
    return { app, call, disconnect: () => clients.forEach((client) => client.close()) };
  },
};

function describe(error: unknown): string {
  if (error instanceof Error || (typeof error === 'object' && error !== null && 'errno' in error))
    return `no answer: ${error instanceof Error ? error.message : JSON.stringify(error)}`;
  return typeof error === 'string' ? `no answer: ${error}` : `error ${JSON.stringify(error)}`;
}
