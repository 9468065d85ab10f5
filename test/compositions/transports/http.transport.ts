import { Agent, type IncomingMessage, request, type Server } from 'node:http';
import { Controller, Get, HttpException, Sse, type Type } from '@nestjs/common';
import { type AbstractHttpAdapter, NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { Composition } from '../composition.js';
import type { Scene } from '../scene.js';
import type { Call, Running, Transport } from './transport.js';

/** Express or Fastify. */
export function httpTransport({ transport, result }: Composition): Transport {
  return {
    imports: [],
    decorateClass: (options) => Controller(options),
    route: (route) => (result === 'sse' ? Sse(route) : Get(route)),
    valueOf: (text) => (result === 'sse' ? { data: text } : text),
    errorOf: (text) => new HttpException({ message: text, detail: [1, 2] }, 418),
    start: (module, scene, options) =>
      startHttp(
        module,
        scene,
        transport === 'fastify' ? new FastifyAdapter() : new ExpressAdapter(),
        options,
      ),
  };
}

async function startHttp(
  module: Type,
  scene: Scene,
  adapter: AbstractHttpAdapter,
  options: object,
): Promise<Running> {
  const app = await NestFactory.create(module, adapter, options);
  const server: Server = app.getHttpServer();
  tellOfClients(server, scene);
  await app.listen(0, '127.0.0.1');
  const client = httpClient(server);
  return {
    app,
    call: (id, route) => client.send(`/${route}?id=${id}`),
    disconnect: () => client.close(),
  };
}

/** Tells the scene which clients leave before their answer. */
export function tellOfClients(server: Server, scene: Scene): void {
  server.on('request', (incoming, response) => {
    const id = new URL(incoming.url ?? '', 'http://localhost').searchParams.get('id') ?? '';
    scene.watch(incoming, response);
    // Room for this listener: with those of Fastify and of the lock there are exactly ten others for a file.
    response.setMaxListeners(response.getMaxListeners() + 1).once('close', () => {
      if (!response.writableFinished) scene.left(id);
    });
  });
}

/** A client that keeps its connections. */
export function httpClient(server: Server): {
  send(path: string, body?: string): Call;
  close(): void;
} {
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const agent = new Agent({ keepAlive: true });
  return {
    close: () => agent.destroy(),
    send(path, body) {
      const headers = body === undefined ? {} : { 'content-type': 'application/json' };
      const method = body === undefined ? 'GET' : 'POST';
      const outgoing = request({ host: '127.0.0.1', port, path, method, agent, headers });
      const answer = new Promise<IncomingMessage>((resolve, reject) =>
        outgoing.once('response', resolve).once('error', reject),
      ).then(async (response) => {
        let text = `${response.statusCode} ${response.headers['content-type']} `;
        for await (const chunk of response) text += String(chunk);
        return text;
      });
      outgoing.end(body);
      return {
        answer: answer.catch((error: Error) => `no answer: ${error.message}`),
        leave: () => outgoing.destroy(),
      };
    },
  };
}
