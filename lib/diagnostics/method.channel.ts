import type { CallOrigin } from './call-origin.js';
import { lockChannel } from './lock-channel.js';

const skipped = lockChannel('nest-redis-lock:method:skipped');

/** Publishes that a locked method did not run, because its names were taken. */
export function tellSkipped({ method = '', template }: CallOrigin, names: readonly string[]): void {
  if (skipped.hasSubscribers) skipped.publish({ method, template, names });
}
