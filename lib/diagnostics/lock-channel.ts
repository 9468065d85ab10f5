import { channel, subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { LockChannels } from './lock-events.interface.js';

/** One of {@link LockChannels}, with the type of its messages. */
export interface LockChannel<Message> {
  readonly hasSubscribers: boolean;
  publish(message: Message): void;
}

/** Keep it: Node forgets a channel that nobody refers to, and what was subscribed to one of that name is another's. */
export function lockChannel<Name extends keyof LockChannels>(name: Name): LockChannel<LockChannels[Name]> {
  return channel(name);
}

/** A listener for each channel of interest. */
export type LockListeners = {
  readonly [Name in keyof LockChannels]?: (message: LockChannels[Name]) => void;
};

/**
 * Subscribes to channels, see {@link LockChannels}.
 *
 * @returns a function that unsubscribes.
 * @example
 * ```ts
 * const stop = listenToLocks({
 *   'nest-redis-lock:hold:lost': ({ acquire, reason }) => alarm(`${acquire.name}: ${reason}`),
 * });
 * ```
 */
export function listenToLocks(listeners: LockListeners): () => void {
  const subscriptions = Object.entries(listeners).map(
    ([name, listener]) => [name, (message: unknown) => listener(message as never)] as const,
  );
  for (const [name, listener] of subscriptions) subscribe(name, listener);
  return () => {
    for (const [name, listener] of subscriptions) unsubscribe(name, listener);
  };
}
