import type { Redis } from 'ioredis';
import type { LockLog } from '../lock-log.js';
import type { StoreEvents } from '../lock-store.js';

const GRANTED = /^granted (\d+) (\d+) (\d+) (.*)$/s;
const REVOKED = /^revoked (\S+) (.*)$/s;
const RESUBSCRIBE_DELAY = 500;

/** One instance's channel, on which scripts of other instances hand it locks. */
export class Inbox {
  private subscribed = false;
  private closed = false;
  private warned = false;

  constructor(
    private readonly client: Redis,
    private readonly channel: string,
    private readonly instance: string,
    private readonly events: StoreEvents,
    private readonly log: LockLog,
  ) {
    client.on('message', (_channel: string, message: string) => this.receive(message));
    client.on('close', () => (this.subscribed = false));
    client.on('ready', () => void this.subscribe());
  }

  get open(): boolean {
    return this.subscribed;
  }

  /** Starts to listen. Never rejects: it goes on trying, and waiters ask at intervals meanwhile. */
  async listen(): Promise<void> {
    await this.client.connect().catch(() => undefined);
  }

  close(): void {
    this.closed = true;
    this.subscribed = false;
  }

  private async subscribe(): Promise<void> {
    try {
      await this.client.subscribe(this.channel);
      this.subscribed = true;
      this.warned = false;
      this.events.subscribed();
    } catch (error) {
      if (this.closed || this.client.status !== 'ready') return;
      this.warnOnce(error);
      setTimeout(() => {
        if (!this.closed && this.client.status === 'ready') void this.subscribe();
      }, RESUBSCRIBE_DELAY).unref();
    }
  }

  /** Not at each further attempt, but again after it has worked meanwhile. */
  private warnOnce(error: unknown): void {
    if (this.warned) return;
    this.warned = true;
    this.log.warn(
      `Locks cannot be handed over directly, waiters have to ask at intervals: ` +
        `SUBSCRIBE ${this.channel} failed: ${error instanceof Error ? error.message : String(error)}`,
    );
  }

  private receive(message: string): void {
    const granted = GRANTED.exec(message);
    if (granted) {
      const [, token = '', tokens, claim, name = ''] = granted;
      const grant = { owner: `${this.instance}:${token}`, token: Number(token), tokens: Number(tokens) };
      return this.events.granted(name, grant, Number(claim));
    }
    const revoked = REVOKED.exec(message);
    if (revoked) this.events.revoked(revoked[2] ?? '', revoked[1] ?? '');
  }
}
