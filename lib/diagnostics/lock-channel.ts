import { channel, subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { LockChannels } from './lock-events.interface.js';

/** A channel of {@link LockChannels}, with the type of its messages. */
export interface LockChannel<Message> {
  readonly hasSubscribers: boolean;
  publish(message: Message): void;
}

/**
 * Returns a channel. Keep the reference: Node collects unreferenced channels, and a new channel of that name lacks the
 * earlier subscribers.
 */
export function lockChannel<Name extends keyof LockChannels>(name: Name): LockChannel<LockChannels[Name]> {
  return channel(name);
}

/** Listeners by channel. */
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
