import type { StoreEvents } from '../../lock-store.js';
import type { InboxEvents } from '../connection/inbox.js';
import type { Trial } from './trial.js';

/**
 * What an inbox tells the engine where a trial decides: of a grant only while whoever sent it surely knows that it was heard.
 * Else the lock may be another one's as well; asking finds out whose it is.
 */
export function triedEvents(events: StoreEvents, trial: Trial): Omit<InboxEvents, 'subscribed'> {
  return {
    granted: (name, grant, claimTtl) => {
      if (trial.counting === 'counted') events.granted(name, grant, claimTtl);
    },
    revoked: (name, owner) => events.revoked(name, owner),
    released: (name) => events.released(name),
    askedIfWaiting: (name, place) => events.askedIfWaiting(name, place),
    told: (message) => events.told(message),
    reconnected: () => events.reconnected(),
    unusable: (reason) => events.unusable(reason),
    tried: (name) => trial.hear(name),
  };
}
