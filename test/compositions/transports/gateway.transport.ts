import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { applyDecorators, UseFilters } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { WsAdapter } from '@nestjs/platform-ws';
import { SubscribeMessage, WebSocketGateway, WsException } from '@nestjs/websockets';
import { LockExceptionFilter } from 'nest-redis-lock';
import { WebSocket } from 'ws';
import type { Call, Transport } from './transport.js';

/** A gateway of plain WebSockets; each request has a socket of its own. */
export const gatewayTransport: Transport = {
  imports: [],
  decorateClass: () => applyDecorators(WebSocketGateway(), UseFilters(LockExceptionFilter)),
  route: (route) => SubscribeMessage(route),
  valueOf: (text) => ({ event: 'done', data: text }),
  errorOf: (text) => new WsException({ reason: text }),
  async start(module, scene, options) {
    const app = await NestFactory.create(module, new ExpressAdapter(), options);
    app.useWebSocketAdapter(new WsAdapter(app));
    const server: Server = app.getHttpServer();
    const connections = new Set<Duplex>();
    // Nest leaves a connection open that arrives while it shuts down.
    server.on('connection', (connection) => connections.add(connection));
    server.on('upgrade', ({ url = '' }, socket) => {
      socket.once('close', () => scene.left(url.slice(1)));
    });
    await app.listen(0, '127.0.0.1');
    const { port } = server.address() as AddressInfo;
    const sockets = new Set<WebSocket>();
    const call = (id: string, route: string): Call => {
      const socket = new WebSocket(
        `ws://127.0.0.1:${port}/${id}`,
        scene.composition.shutdown === undefined ? {} : { handshakeTimeout: 300 },
      );
      sockets.add(socket);
      const sent = new Promise<void>((resolve) => {
        socket.once('open', () => {
          socket.send(JSON.stringify({ event: route, data: { id } }), () => resolve());
        });
      });
      const answer = new Promise<string>((resolve) => {
        socket.once('message', (frame: Buffer) => resolve(frame.toString()));
        socket.once('error', (error) => resolve(`no answer: ${error.message}`));
        socket.once('close', () => resolve('no answer: closed'));
      });
      return { answer, leave: () => void sent.then(() => socket.terminate()) };
    };
    const disconnect = (): void => {
      for (const socket of sockets) socket.terminate();
      for (const connection of connections) connection.destroy();
    };
    return { app, call, disconnect };
  },
};
