import type { EventEmitter } from 'node:events';

type Call = (...args: readonly unknown[]) => void;

interface SharedListener {
  readonly calls: Set<{ readonly call: Call }>;
  readonly listener: Call;
}

const byClient = new WeakMap<EventEmitter, Map<string, SharedListener>>();

/**
 * Listens to an event of a client until the returned function is called. Several modules may use one client: together
 * they add one listener for each event, because Node warns of more than ten.
 */
export function listen(client: EventEmitter, event: string, call: (...args: never[]) => void): () => void {
  const byEvent = byClient.get(client) ?? new Map<string, SharedListener>();
  byClient.set(client, byEvent);
  const known = byEvent.get(event);
  const shared = known ?? newSharedListener();
  if (!known) {
    byEvent.set(event, shared);
    client.on(event, shared.listener);
  }
  const { calls, listener } = shared;
  const entry = { call: call as Call };
  calls.add(entry);
  return () => {
    if (!calls.delete(entry) || calls.size > 0) return;
    byEvent.delete(event);
    client.off(event, listener);
  };
}

function newSharedListener(): SharedListener {
  const calls: SharedListener['calls'] = new Set();
  const listener: Call = (...args) => {
    // A call may end its own wait, or begin another one.
    for (const entry of [...calls]) if (calls.has(entry)) entry.call(...args);
  };
  return { calls, listener };
}
