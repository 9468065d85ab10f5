import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { createServer, type Server } from 'node:tls';
import type { Certificate } from './certificate.js';

/**
 * Speaks TLS for a server of this machine that speaks none, as the front of a managed Redis does: not every
 * redis-server is built with TLS.
 */
export class TlsFront implements AsyncDisposable {
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly listener: Server,
    target: { readonly port: number },
  ) {
    listener.on('secureConnection', (client) => {
      const server = connect({ port: target.port, host: '127.0.0.1', noDelay: true });
      client.pipe(server).pipe(client);
      for (const socket of [client, server]) {
        this.sockets.add(socket);
        // What went wrong shows on the other side as a closed connection.
        socket.on('error', () => {});
        socket.once('close', () => {
          this.sockets.delete(socket);
          client.destroy();
          server.destroy();
        });
      }
    });
  }

  static async start(
    target: { readonly port: number },
    { key, certificate }: Certificate,
  ): Promise<TlsFront> {
    const listener = createServer({ key, cert: certificate });
    const front = new TlsFront(listener, target);
    listener.listen(0, '127.0.0.1');
    await once(listener, 'listening');
    return front;
  }

  get port(): number {
    return (this.listener.address() as AddressInfo).port;
  }

  /** Connections that got through the handshake. */
  get connections(): number {
    return this.sockets.size / 2;
  }

  /** Cuts all connections of this moment. */
  cut(): void {
    for (const socket of this.sockets) socket.destroy();
    // They close only later.
    this.sockets.clear();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.listener, 'close');
    this.listener.close();
    this.cut();
    await closed;
  }
}
