import type { Redis } from 'ioredis';
import type { Clock } from '../../../engine/clock.js';

/** `ssubscribe` hears what is published in a slot of this node, `subscribe` what is published anywhere. */
export type SubscribeCommand = 'ssubscribe' | 'subscribe';

/**
 * The connection on which messages of one node arrive. Lost as soon as anything is odd about it; another is made then.
 *
 * A node ends subscriptions by itself when it gives a slot away. Versions of ioredis differ in what they make of that:
 * an event, an error, an answer that is taken for another one's. Only a new connection is sure to be in order.
 */
export class NodeListener {
  private isLost = false;
  private readonly waiting = new Set<(error: Error) => void>();

  constructor(
    private readonly client: Redis,
    private readonly clock: Clock,
    /** Milliseconds that an answer may take. */
    private readonly patience: number,
    heard: (channel: string, message: string) => void,
    private readonly lost: () => void,
  ) {
    client.on('message', heard);
    client.on('smessage', heard);
    client.on('error', (error: Error) => this.lose(error));
    client.on('close', () => this.lose(new Error('The connection was closed.')));
    client.on('moved', () => this.lose(new Error('A slot was moved to another node.')));
  }

  /** Rejects when the node refuses, does not answer, or the connection is lost meanwhile. */
  subscribe(command: SubscribeCommand, channel: string): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.isLost) return reject(new Error('The connection was closed.'));
      const timer = this.clock.schedule(
        () => this.lose(new Error(`Redis did not answer ${command} within ${this.patience} ms.`)),
        this.patience,
      );
      const end = (): void => {
        this.clock.cancel(timer);
        this.waiting.delete(refuse);
      };
      const refuse = (error: Error): void => {
        end();
        reject(error);
      };
      this.waiting.add(refuse);
      this.client[command](channel).then(() => {
        end();
        resolve();
      }, refuse);
    });
  }

  unsubscribe(channel: string): void {
    if (!this.isLost) this.client.sunsubscribe(channel).catch(() => undefined);
  }

  close(): void {
    this.isLost = true;
    this.client.disconnect();
  }

  private lose(error: Error): void {
    if (this.isLost) return;
    this.close();
    for (const refuse of [...this.waiting]) refuse(error);
    this.lost();
  }
}
