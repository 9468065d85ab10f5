import type { StoreEvents } from '../../lib/store/lock-store.js';

/** Ignores what a store, or a node of a quorum, reports. */
export const NO_EVENTS: StoreEvents = {
  granted: () => undefined,
  revoked: () => undefined,
  gap: () => undefined,
  released: () => undefined,
  askedIfWaiting: () => undefined,
  isInUse: () => false,
  done: () => undefined,
  told: () => undefined,
  subscribed: () => undefined,
  reconnected: () => undefined,
  unusable: () => undefined,
};
