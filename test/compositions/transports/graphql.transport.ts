import type { Server } from 'node:http';
import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import { applyDecorators, HttpException, Injectable } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { GraphQLModule, Query, Resolver } from '@nestjs/graphql';
import { ExpressAdapter } from '@nestjs/platform-express';
import { httpClient, tellOfClients } from './http.transport.js';
import type { Transport } from './transport.js';

/** Queries over HTTP, on Apollo. */
export const graphqlTransport: Transport = {
  imports: [
    GraphQLModule.forRoot<ApolloDriverConfig>({
      driver: ApolloDriver,
      autoSchemaFile: true,
      includeStacktraceInErrorResponses: false,
    }),
  ],
  decorateClass: (options) => applyDecorators(Injectable(options), Resolver()),
  route: (route) => Query(() => String, { name: route }),
  valueOf: (text) => text,
  errorOf: (text) => new HttpException({ reason: text, message: text }, 418),
  async start(module, scene, options) {
    const app = await NestFactory.create(module, new ExpressAdapter(), options);
    const server: Server = app.getHttpServer();
    tellOfClients(server, scene);
    await app.listen(0, '127.0.0.1');
    const client = httpClient(server);
    return {
      app,
      call: (id, route) =>
        client.send(`/graphql?id=${id}`, JSON.stringify({ query: `query { answer: ${route} }` })),
      disconnect: () => client.close(),
    };
  },
};
