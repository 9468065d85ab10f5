import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { RedisServer } from './redis-server.js';

/** One command that a client sent. */
export interface ClientRequest {
  /** Lower-case name, such as `evalsha`. */
  readonly command: string;
  readonly args: readonly string[];
  /** Address and port of the connection that sent it. */
  readonly from: string;
  /** Lower-case names of the commands that it called as a script. */
  readonly calls: readonly string[];
  /** The messages that it published as a script. */
  readonly messages: readonly string[];
}

const FROM_A_SCRIPT = 'lua';

/**
 * Everything that clients ask a server, seen through MONITOR: a script is one request, whatever it calls.
 *
 * Redis keeps AUTH, HELLO and administrative commands (CONFIG, CLIENT KILL, MONITOR itself) out of it. A log
 * does not outlive a restart of the server.
 *
 * @example
 * const log = await RequestLog.open(server);
 * await locks.acquire('order:42');
 * expect(await log.counts()).toEqual({ evalsha: 1 });
 * log.close();
 */
export class RequestLog {
  private seen: (ClientRequest & { readonly calls: string[]; readonly messages: string[] })[] = [];
  private readonly markers = new Map<string, () => void>();

  private constructor(
    private readonly monitor: Redis,
    private readonly asking: Redis,
  ) {
    monitor.on('monitor', (_time: string, [command = '', ...args]: string[], from: string) => {
      const name = command.toLowerCase();
      const reached = this.markers.get(args[0] ?? '');
      if (reached) reached();
      // Redis shows the commands of a script directly behind it.
      else if (from === FROM_A_SCRIPT) {
        this.seen.at(-1)?.calls.push(name);
        if (name === 'publish') this.seen.at(-1)?.messages.push(args[1] ?? '');
      } else this.seen.push({ command: name, args, from, calls: [], messages: [] });
    });
  }

  /** Begins to record. */
  static async open(server: RedisServer): Promise<RequestLog> {
    const asking = server.client();
    // Its handshake must be over before the recording begins.
    await asking.ping();
    // Not monitor(): it rejects if requests of others arrive together with the reply that the log has begun.
    const monitor = server.client({ monitor: true });
    await new Promise<void>((resolve) => void monitor.once('monitoring', resolve));
    return new RequestLog(monitor, asking);
  }

  /** What clients sent since the recording began or {@link clear}, in the order in which Redis ran it. */
  async requests(): Promise<readonly ClientRequest[]> {
    await this.catchUp();
    return [...this.seen];
  }

  /** The same as numbers by command. */
  async counts(): Promise<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const { command } of await this.requests()) counts[command] = (counts[command] ?? 0) + 1;
    return counts;
  }

  /** Forgets what was sent up to now. */
  async clear(): Promise<void> {
    await this.catchUp();
    this.seen = [];
  }

  /** Ends the recording. */
  close(): void {
    this.monitor.disconnect();
    this.asking.disconnect();
  }

  // Redis runs one command after the other: once the marker shows up, so has all that was sent before it.
  private async catchUp(): Promise<void> {
    const marker = randomUUID();
    const reached = new Promise<void>((resolve) => this.markers.set(marker, resolve));
    await this.asking.echo(marker);
    await reached;
    this.markers.delete(marker);
  }
}
