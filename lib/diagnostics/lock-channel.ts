import { channel } from 'node:diagnostics_channel';
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
