import type { StoreEvents } from '../../lock-store.js';
import { sharedOwner } from '../../owner-id.js';

const GRANTED = /^granted (\d+) (\d+) (\d+) (.*)$/s;
const SHARED = /^shared (\d+) (\d+)(?:\/(\d+))? (\d+) (\w+) (.*)$/s;
const RELEASED = /^released (.*)$/s;
const WAITING = /^waiting (\S+) (.*)$/s;
const TRIED = /^tried (\S+)$/;
const REVOKED = /^revoked (\S+) (.*)$/s;

/** What an inbox tells of. */
export interface InboxEvents extends StoreEvents {
  /** A message of a trial has come. */
  tried(trial: string): void;
}

/** One instance's ear, by which scripts of other instances hand it locks. */
export interface Inbox {
  /** Starts to listen. Never fails: it goes on trying, and waiters ask at intervals meanwhile. */
  open(): void;
  /** Whether a grant of this name would be heard just now. */
  hears(name: string): boolean;
  /** Somebody waits for the name. */
  listen(name: string): void;
  /** Nobody waits for the name any more. */
  ignore(name: string): void;
  close(): void;
}

/** Tells the engine what a script said to this instance. */
export function deliver(message: string, instance: string, events: Omit<InboxEvents, 'subscribed'>): void {
  const granted = GRANTED.exec(message);
  if (granted) {
    const [, token = '', tokens, claimTtl, name = ''] = granted;
    const grant = { owner: `${instance}:${token}`, token: Number(token), tokens: Number(tokens) };
    return events.granted(name, grant, Number(claimTtl));
  }
  const shared = SHARED.exec(message);
  if (shared) {
    const [, token, holds, block = holds, claimTtl, turn = '', name = ''] = shared;
    const owner = sharedOwner(instance, turn, 1);
    const grant = { owner, turn, token: Number(token), tokens: Number(holds), block: Number(block) };
    return events.granted(name, grant, Number(claimTtl));
  }
  const released = RELEASED.exec(message);
  if (released) return events.released(released[1] ?? '');
  const waiting = WAITING.exec(message);
  if (waiting) return events.askedIfWaiting(waiting[2] ?? '', waiting[1] ?? '');
  const tried = TRIED.exec(message);
  if (tried) return events.tried(tried[1] ?? '');
  const revoked = REVOKED.exec(message);
  if (revoked) return events.revoked(revoked[2] ?? '', revoked[1] ?? '');
  events.told(message);
}

/** What to tell the log when listening is refused. */
export function deafnessWarning(command: string, channel: string, error: unknown): string {
  return (
    `Locks cannot be handed over directly, waiters have to ask at intervals: ` +
    `${command} ${channel} failed: ${error instanceof Error ? error.message : String(error)}`
  );
}
