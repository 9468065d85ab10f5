import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';

/** What listens on a free port of 127.0.0.1 in the place of a server. */
export abstract class LocalServer implements AsyncDisposable {
  readonly host = '127.0.0.1';

  protected constructor(private readonly listener: Server) {
    listener.on('connection', (client) => this.accept(client));
  }

  get port(): number {
    return (this.listener.address() as AddressInfo).port;
  }

  /** `redis://` URL of it. */
  get url(): string {
    return `redis://${this.host}:${this.port}`;
  }

  /** Cuts all connections of this moment with a TCP reset. */
  abstract reset(): void;

  /** Cuts all connections and stops listening. May be called twice. */
  async close(): Promise<void> {
    if (!this.listener.listening) return;
    const closed = once(this.listener, 'close');
    this.listener.close();
    this.reset();
    await closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  protected async listen(): Promise<this> {
    this.listener.listen(0, this.host);
    await once(this.listener, 'listening');
    return this;
  }

  protected abstract accept(client: Socket): void;
}
