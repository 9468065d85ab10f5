import { listenToLocks, type LockListeners } from '../../lib/diagnostics/lock-channel.js';
import type { LockChannels } from '../../lib/diagnostics/lock-events.interface.js';

const PREFIX = 'nest-redis-lock:';
// A record, so that the compiler misses a channel that is left out.
const NAMES: Readonly<Record<keyof LockChannels, true>> = {
  'nest-redis-lock:acquire:start': true,
  'nest-redis-lock:acquire:granted': true,
  'nest-redis-lock:acquire:timeout': true,
  'nest-redis-lock:acquire:shared': true,
  'nest-redis-lock:acquire:failed': true,
  'nest-redis-lock:hold:released': true,
  'nest-redis-lock:hold:lost': true,
  'nest-redis-lock:lease:renewal': true,
  'nest-redis-lock:queue:length': true,
  'nest-redis-lock:method:skipped': true,
  'nest-redis-lock:once:ended': true,
};

/** All channels that there are. */
export const CHANNELS = Object.keys(NAMES);

type Message = LockChannels[keyof LockChannels];

/** What diagnostics tell of one lock name, in order. */
export class LockEvents implements Disposable {
  private readonly seen: { readonly channel: string; readonly message: Message }[] = [];
  private readonly stop: () => void;

  constructor(private readonly name: string) {
    const listeners = CHANNELS.map((channel) => [
      channel,
      (message: Message) => {
        if (this.concerns(message)) this.seen.push({ channel: channel.slice(PREFIX.length), message });
      },
    ]);
    this.stop = listenToLocks(Object.fromEntries(listeners) as LockListeners);
  }

  /** The channels in order, without `nest-redis-lock:`; the lengths of the queue and renewals only where asked for. */
  channels(...kinds: readonly string[]): readonly string[] {
    const wanted = kinds.length > 0 ? kinds : ['acquire', 'hold'];
    return this.seen
      .map(({ channel }) => channel)
      .filter((channel) => wanted.includes(channel.split(':')[0] ?? ''));
  }

  /** The messages of one channel. */
  of<Name extends keyof LockChannels>(name: Name): readonly LockChannels[Name][] {
    return this.seen
      .filter(({ channel }) => PREFIX + channel === name)
      .map(({ message }) => message as LockChannels[Name]);
  }

  [Symbol.dispose](): void {
    this.stop();
  }

  private concerns(message: Message): boolean {
    if ('acquire' in message) return message.acquire.name === this.name;
    return 'names' in message ? message.names.includes(this.name) : message.name === this.name;
  }
}
