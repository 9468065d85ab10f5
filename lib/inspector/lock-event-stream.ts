import { Readable } from 'node:stream';
import type { LockChannels } from '../diagnostics/lock-events.interface.js';
import { isLockError } from '../errors/lock.error.js';
import { tryTo } from '../primitives/try-to.js';

type Channel = keyof LockChannels;
type Message = LockChannels[Channel];

/** Milliseconds for which events are collected before they are sent. */
const PAUSE = 100;
/** Maximum number of events in that time; the client receives only the count of further events. */
const AT_MOST = 200;
/** Milliseconds between heartbeats on a connection without events, to detect its end. */
const HEARTBEAT = 15_000;

/**
 * The messages of the diagnostics channels as server-sent events for one client.
 *
 * A client that reads slowly, or not at all, costs a bounded amount of memory: events that it cannot receive are
 * dropped and counted.
 */
export class LockEventStream extends Readable {
  private readonly events: { readonly channel: Channel; readonly message: Message; readonly at: number }[] =
    [];
  private leftOut = 0;
  private isWanted = false;
  private timer: NodeJS.Timeout | undefined;
  private readonly heartbeat = setInterval(() => this.send(':\n\n'), HEARTBEAT).unref();

  constructor() {
    super();
    // Sent at once, so that the client knows that it is connected.
    this.push('retry: 2000\n\n');
  }

  publish(channel: Channel, message: Message): void {
    if (this.events.length < AT_MOST) this.events.push({ channel, message, at: Date.now() });
    else this.leftOut += 1;
    this.timer ??= setTimeout(() => this.flush(), PAUSE).unref();
  }

  /** Ends the stream after the unread events. */
  end(): void {
    this.isWanted = false;
    this.push(null);
  }

  override _read(): void {
    this.isWanted = true;
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    clearInterval(this.heartbeat);
    clearTimeout(this.timer);
    done(error);
  }

  private flush(): void {
    this.timer = undefined;
    // Events in the meantime are counted.
    if (!this.isWanted) return void (this.timer = setTimeout(() => this.flush(), PAUSE).unref());
    const events = this.events.splice(0).map(({ channel, message, at }) => {
      return format(channel.replace('nest-redis-lock:', ''), { at, ...contentOf(message) });
    });
    if (this.leftOut > 0) events.push(format('left-out', { count: this.leftOut }));
    this.leftOut = 0;
    this.send(events.join(''));
  }

  private send(text: string): void {
    if (!this.isWanted || this.destroyed) return;
    this.isWanted = false;
    this.push(text);
  }
}

function format(event: string, data: object): string {
  // JSON contains no line break, which would end the data.
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

function contentOf(message: Message): object {
  if ('names' in message) {
    const { names, ...renewal } = message;
    return { leases: names.length, ...renewal };
  }
  if (!('acquire' in message)) return message;
  const { acquire, ...rest } = message;
  return { ...acquire, ...rest, ...('error' in rest && { error: kindOf(rest.error) }) };
}

/** The kind of an error, without its message, which may contain anything. */
function kindOf(error: unknown): string {
  if (isLockError(error)) return error.code;
  return tryTo(() => (error instanceof Error ? error.name : undefined)) ?? typeof error;
}
