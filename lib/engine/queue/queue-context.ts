import type { HandoffOptions } from '../../options/module-options.interface.js';
import type { Grant } from '../../store/grant.js';
import type { Deadlines } from '../../primitives/deadlines.js';
import type { WakeUp } from '../../primitives/wake-up.js';
import type { Labels } from '../hold/labels.js';
import type { LeaseContext } from '../hold/lease-context.js';
import type { Waiter } from './waiter.js';

/** What the local queues of one instance share. */
export interface QueueContext extends LeaseContext {
  /** Looks after requests without an answer, with one timer for those of all queues. An answered one costs nothing. */
  readonly outages: WakeUp;
  readonly waits: Deadlines<Waiter>;
  readonly handoff: Required<HandoffOptions>;
  readonly maxWaiters: number;
  readonly labels: Labels;
  /** The highest token noted by `spend`. */
  readonly highestSpentToken: number;
  /** Releases a grant that nobody wants, never to take it up again. Its lease runs for at most so many ms. */
  giveBack(name: string, grant: Grant, lease: number): void;
  /** Leaves the store's queue, and gives back a grant that was on its way, with such a lease at most. Never rejects. */
  cancel(name: string, place: string, lease: number): Promise<void>;
  /** A name for a turn that asks for shared holds, with so many fencing tokens for each. */
  newTurn(tokensEach: number): string;
  /** Forgets a queue that is idle. */
  drop(queue: { readonly name: string }): void;
}
