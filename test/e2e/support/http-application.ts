import type { Server } from 'node:http';
import type { INestApplication, ModuleMetadata } from '@nestjs/common';
import type { AbstractHttpAdapter } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test, type TestingModuleBuilder } from '@nestjs/testing';
import { LockService } from '../../../lib/index.js';

/** The HTTP platforms that everything is tried on, for `describe.each`. */
export const platforms: [name: string, adapter: () => AbstractHttpAdapter][] = [
  ['Express', () => new ExpressAdapter()],
  ['Fastify', () => new FastifyAdapter()],
];

/** What a test may do to an application before it starts. */
export interface ApplicationSetup {
  override?: (builder: TestingModuleBuilder) => TestingModuleBuilder;
  configure?: (app: INestApplication) => void;
}

/** A Nest application that listens on a free port. */
export class HttpApplication implements AsyncDisposable {
  private constructor(
    readonly nest: INestApplication,
    private readonly url: string,
  ) {}

  static async start(
    adapter: AbstractHttpAdapter,
    metadata: ModuleMetadata,
    { override = (builder) => builder, configure }: ApplicationSetup = {},
  ): Promise<HttpApplication> {
    const testingModule = await override(Test.createTestingModule(metadata)).compile();
    const nest = testingModule.createNestApplication(adapter, { logger: false });
    configure?.(nest);
    await nest.listen(0, '127.0.0.1');
    return new HttpApplication(nest, await nest.getUrl());
  }

  get locks(): LockService {
    return this.nest.get(LockService);
  }

  async get(path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(this.url + path, init);
  }

  async post(path: string, body: unknown): Promise<Response> {
    return this.get(path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    });
  }

  async stop(): Promise<void> {
    // Those that the client keeps alive would hold up the end of the application.
    const server: Server = this.nest.getHttpServer();
    server.closeAllConnections();
    await this.nest.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}
