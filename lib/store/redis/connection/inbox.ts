import type { StoreEvents } from '../../lock-store.js';
import { sharesOf } from '../../owner-id.js';

const GRANTED = /^granted (\d+) (\d+) (\d+) (.*)$/s;
const SHARED = /^shared (\d+) (\d+)\/(\d+) (\d+) (\w+) (.*)$/s;
const RELEASED = /^released (.*)$/s;
const GAP = /^gap (\d+) (\d+) (.*)$/s;
const WAITING = /^waiting (\S+) (.*)$/s;
const DONE = /^done (.*)$/s;
const TRIED = /^tried ?(\S*)$/;
const REVOKED = /^revoked (\S+) (.*)$/s;

/** Passes a script's message to the engine, or that of a trial to it. */
export function deliver(
  message: string,
  instance: string,
  events: StoreEvents,
  trial: { readonly receivers: string; hear(name: string): void },
): void {
  const granted = grantIn(message, instance);
  if (granted) {
    // Only while the sender certainly counts receivers. Otherwise another instance may have the lock as well; a re-ask
    // finds its owner.
    if (trial.receivers === 'counted') events.granted(...granted);
    return;
  }
  const released = RELEASED.exec(message);
  if (released) return events.released(released[1] ?? '');
  const gap = GAP.exec(message);
  if (gap) return events.gap(gap[3] ?? '', { length: Number(gap[1]), memory: Number(gap[2]) });
  const waiting = WAITING.exec(message);
  if (waiting) return events.askedIfWaiting(waiting[2] ?? '', waiting[1] ?? '');
  const done = DONE.exec(message);
  if (done) return events.done(done[1] ?? '');
  const tried = TRIED.exec(message);
  if (tried) return trial.hear(tried[1] ?? '');
  const revoked = REVOKED.exec(message);
  if (revoked) return events.revoked(revoked[2] ?? '', revoked[1] ?? '');
  events.told(message);
}

function grantIn(message: string, instance: string): Parameters<StoreEvents['granted']> | undefined {
  const granted = GRANTED.exec(message);
  if (granted) {
    const [, token = '', tokens, claimTtl, name = ''] = granted;
    const grant = { owner: `${instance}:${token}`, token: Number(token), tokens: Number(tokens) };
    return [name, [grant], Number(claimTtl)];
  }
  const shared = SHARED.exec(message);
  if (!shared) return undefined;
  const [, token, holds, tokens, claimTtl, tag = '', name = ''] = shared;
  const block = { token: Number(token), tokens: Number(tokens) };
  return [name, sharesOf(instance, tag, block, Number(holds)), Number(claimTtl)];
}
