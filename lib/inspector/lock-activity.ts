import {
  Injectable,
  type BeforeApplicationShutdown,
  type OnModuleInit,
  ServiceUnavailableException,
} from '@nestjs/common';
import { listenToLocks, type LockListeners } from '../diagnostics/lock-channel.js';
import type { LockChannels, LockHoldLost } from '../diagnostics/lock-events.interface.js';
import type { LockLostReason } from '../errors/lock-lost.error.js';
import { LockEventStream } from './lock-event-stream.js';

const CHANNELS = [
  'nest-redis-lock:acquire:start',
  'nest-redis-lock:acquire:granted',
  'nest-redis-lock:acquire:timeout',
  'nest-redis-lock:acquire:shared',
  'nest-redis-lock:acquire:failed',
  'nest-redis-lock:hold:released',
  'nest-redis-lock:hold:lost',
  'nest-redis-lock:lease:renewal',
  'nest-redis-lock:queue:length',
] as const satisfies (keyof LockChannels)[];

const MOST_STREAMS = 50;
const MOST_LOST = 100;

/** Listens to the locks of this process: always to lost holds, and to other events while a client watches. */
@Injectable()
export class LockActivity implements OnModuleInit, BeforeApplicationShutdown {
  /** The most recently lost holds, latest first. */
  readonly lost: LostHold[] = [];
  private readonly streams = new Set<LockEventStream>();
  private isClosing = false;
  private stopListening = (): void => {};
  private stopWatching = (): void => {};

  onModuleInit(): void {
    this.stopListening = listenToLocks({ 'nest-redis-lock:hold:lost': (lost) => this.add(lost) });
  }

  /** Ends open streams, which would prevent the server from closing. */
  beforeApplicationShutdown(): void {
    this.isClosing = true;
    this.stopListening();
    for (const stream of this.streams) stream.end();
  }

  /**
   * Opens a stream of events from now on, until its reader destroys it or the application shuts down.
   *
   * @throws ServiceUnavailableException during a shutdown, or if too many clients watch.
   */
  watch(): LockEventStream {
    if (this.isClosing) throw new ServiceUnavailableException('The application is shutting down.');
    if (this.streams.size >= MOST_STREAMS)
      throw new ServiceUnavailableException('Too many clients watch already.');
    const stream = new LockEventStream();
    stream.once('close', () => this.drop(stream));
    this.streams.add(stream);
    if (this.streams.size === 1) this.stopWatching = listenToLocks(this.listeners());
    return stream;
  }

  private add({ acquire: { name, label, method }, reason, age, fencingToken }: LockHoldLost): void {
    this.lost.unshift({ name, label, method, reason, at: new Date(), age, fencingToken });
    if (this.lost.length > MOST_LOST) this.lost.pop();
  }

  private drop(stream: LockEventStream): void {
    this.streams.delete(stream);
    if (this.streams.size === 0) this.stopWatching();
  }

  private listeners(): LockListeners {
    const pairs = CHANNELS.map((channel) => [
      channel,
      (message: LockChannels[typeof channel]) => {
        for (const stream of this.streams) stream.publish(channel, message);
      },
    ]);
    return Object.fromEntries(pairs) as LockListeners;
  }
}

/** A hold of this process that ended before it was released. */
export interface LostHold {
  readonly name: string;
  /** The hold's label; for a `@Locked` method, by default `Class.method`. */
  readonly label: string | undefined;
  /** `Class.method` for a hold of a `@Locked` method. */
  readonly method: string | undefined;
  readonly reason: LockLostReason;
  readonly at: Date;
  /** Milliseconds from the grant on. */
  readonly age: number;
  readonly fencingToken: number;
}
