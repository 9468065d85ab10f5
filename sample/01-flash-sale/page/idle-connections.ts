import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { type BeforeApplicationShutdown, Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';

/** Milliseconds. */
const INTERVAL = 20;

/**
 * Lets the server close at shutdown while browsers have pages open, and lets every request finish.
 *
 * Node waits for connections that a browser opened in advance, and for those that become idle meanwhile.
 */
@Injectable()
export class IdleConnections implements OnModuleInit, BeforeApplicationShutdown {
  private readonly unused = new Set<Socket>();

  constructor(private readonly host: HttpAdapterHost) {}

  onModuleInit(): void {
    this.server.on('connection', (socket: Socket) => {
      this.unused.add(socket);
      socket.once('close', () => this.unused.delete(socket));
    });
    this.server.on('request', ({ socket }: IncomingMessage) => this.unused.delete(socket));
  }

  beforeApplicationShutdown(): void {
    for (const socket of this.unused) socket.destroy();
    setInterval(() => this.server.closeIdleConnections(), INTERVAL).unref();
  }

  private get server(): Server {
    return this.host.httpAdapter.getHttpServer();
  }
}
