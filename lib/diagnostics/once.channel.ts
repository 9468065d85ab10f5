import type { CallOrigin } from './call-origin.js';
import { lockChannel } from './lock-channel.js';
import type { LockOnceEnded } from './lock-events.interface.js';

const ended = lockChannel('nest-redis-lock:once:ended');

/** Ends the wait of a call whose result another run has left: such a wait has not failed. */
export class ResultShared extends Error {
  override readonly name = 'ResultShared';
}

/** Publishes how a call of `once` has ended. */
export function publishOnce(
  name: string,
  { label, origin }: Pick<LockOnceEnded, 'label'> & { readonly origin: CallOrigin },
  outcome: LockOnceEnded['outcome'],
): void {
  if (ended.hasSubscribers) ended.publish({ name, label, ...origin, outcome });
}
