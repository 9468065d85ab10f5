import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { WriteReply, WriteRequest } from './fenced-resource.js';

/** A process's way to the {@link FencedResource}. */
export class FencedResourceClient {
  private readonly socket: Socket;
  private readonly pending = new Map<number, (accepted: boolean) => void>();
  private lastId = 0;

  constructor(port: number) {
    this.socket = connect({ port, host: '127.0.0.1', noDelay: true });
    createInterface(this.socket).on('line', (line) => {
      const { id, accepted } = JSON.parse(line) as WriteReply;
      this.pending.get(id)?.(accepted);
      this.pending.delete(id);
    });
  }

  /** Resolves to whether the resource took the write. */
  write(name: string, token: number, hold: string): Promise<boolean> {
    const request: WriteRequest = { id: ++this.lastId, name, token, hold };
    return new Promise((resolve) => {
      this.pending.set(request.id, resolve);
      this.socket.write(`${JSON.stringify(request)}\n`);
    });
  }

  close(): void {
    this.socket.destroy();
  }
}
