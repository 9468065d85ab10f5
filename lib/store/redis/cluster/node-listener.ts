import type { Clock } from '../../../primitives/clock.js';
import type { RedisClient, SubscribeCommand } from '../connection/redis-client.js';

/**
 * The connection for messages of one node. After any irregularity, it counts as lost and is replaced.
 *
 * A node ends subscriptions when it gives a slot away. Clients differ in their reaction: an event, an error, or a reply
 * that they attribute to another command. Only a new connection is certain to be correct.
 */
export class NodeListener {
  private isLost = false;

  constructor(
    readonly address: string,
    private readonly client: RedisClient,
    private readonly clock: Clock,
    /** Maximum milliseconds of a reply. */
    private readonly timeout: number,
    heard: (channel: string, message: string) => void,
    private readonly lost: (error: unknown) => void,
  ) {
    client.on('message', heard);
    client.on('error', (error) => this.lose(error));
    client.on('lost', () => this.lose(new Error('The connection was closed.')));
  }

  /** Subscribes. After too long a wait for the reply, the connection counts as lost. */
  subscribe(command: SubscribeCommand, channel: string): Promise<void> {
    const timer = this.clock.schedule(
      () => this.lose(new Error(`Redis did not answer ${command} within ${this.timeout} ms.`)),
      this.timeout,
    );
    return this.client.subscribe(command, channel).finally(() => this.clock.cancel(timer));
  }

  unsubscribe(channel: string): void {
    if (!this.isLost) this.client.unsubscribe(channel);
  }

  /** Counts the connection as lost. */
  replace(): void {
    this.lose(new Error('Messages do not arrive on the connection.'));
  }

  close(): void {
    this.isLost = true;
    this.client.close();
  }

  private lose(error: unknown): void {
    if (this.isLost) return;
    this.close();
    this.lost(error);
  }
}
