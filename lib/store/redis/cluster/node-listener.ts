import type { Clock } from '../../../primitives/clock.js';
import type { RedisClient, SubscribeCommand } from '../connection/redis-client.js';

/**
 * The connection on which messages of one node arrive. Lost as soon as anything is odd about it; another is made then.
 *
 * A node ends subscriptions by itself when it gives a slot away. Clients differ in what they make of that: an event, an
 * error, an answer that is taken for another one's. Only a new connection is sure to be in order.
 */
export class NodeListener {
  private isLost = false;
  private readonly waiting = new Set<(error: unknown) => void>();

  constructor(
    private readonly client: RedisClient,
    private readonly clock: Clock,
    /** Milliseconds that an answer may take. */
    private readonly patience: number,
    heard: (channel: string, message: string) => void,
    private readonly lost: () => void,
  ) {
    client.on('message', heard);
    client.on('error', (error) => this.lose(error));
    client.on('lost', () => this.lose(new Error('The connection was closed.')));
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
      const refuse = (error: unknown): void => {
        end();
        reject(error);
      };
      this.waiting.add(refuse);
      this.client.subscribe(command, channel).then(() => {
        end();
        resolve();
      }, refuse);
    });
  }

  unsubscribe(channel: string): void {
    if (!this.isLost) this.client.unsubscribe(channel);
  }

  close(): void {
    this.isLost = true;
    this.client.close();
  }

  private lose(error: unknown): void {
    if (this.isLost) return;
    this.close();
    for (const refuse of [...this.waiting]) refuse(error);
    this.lost();
  }
}
