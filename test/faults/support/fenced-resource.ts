import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { now } from './shared-clock.js';

/** Asks to write; one line of JSON. */
export interface WriteRequest {
  readonly id: number;
  readonly name: string;
  readonly token: number;
  /** Which hold writes; tells two holds with one token apart. */
  readonly hold: string;
}

/** One line of JSON for each {@link WriteRequest}. */
export interface WriteReply {
  readonly id: number;
  readonly accepted: boolean;
}

/** A write that the resource let in. */
export interface AcceptedWrite extends Omit<WriteRequest, 'id'> {
  readonly at: number;
}

/**
 * What the locks protect: takes a write only when its fencing token is not lower than the highest seen.
 *
 * Knows nothing of Redis; processes reach it over TCP.
 */
export class FencedResource implements AsyncDisposable {
  readonly accepted: AcceptedWrite[] = [];
  private readonly highest = new Map<string, number>();
  private readonly sockets = new Set<Socket>();

  private constructor(private readonly listener: Server) {
    listener.on('connection', (socket) => this.serve(socket));
  }

  static async start(): Promise<FencedResource> {
    const listener = createServer({ noDelay: true });
    const resource = new FencedResource(listener);
    listener.listen(0, '127.0.0.1');
    await once(listener, 'listening');
    return resource;
  }

  get port(): number {
    return (this.listener.address() as AddressInfo).port;
  }

  /** How many processes are connected. */
  get clients(): number {
    return this.sockets.size;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.listener, 'close');
    this.listener.close();
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  private serve(socket: Socket): void {
    this.sockets.add(socket);
    // A process that is killed resets its connection; readline hands the socket's errors on.
    const lines = createInterface(socket).on('error', () => {});
    socket.once('close', () => this.sockets.delete(socket));
    lines.on('line', (line) => {
      const { id, ...write } = JSON.parse(line) as WriteRequest;
      const reply: WriteReply = { id, accepted: this.take(write) };
      socket.write(`${JSON.stringify(reply)}\n`);
    });
  }

  private take(write: Omit<WriteRequest, 'id'>): boolean {
    if (write.token < (this.highest.get(write.name) ?? 0)) return false;
    this.highest.set(write.name, write.token);
    this.accepted.push({ ...write, at: now() });
    return true;
  }
}
