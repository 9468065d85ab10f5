import { setTimeout as sleep } from 'node:timers/promises';
import { LockUnavailableError } from '../errors/lock.error.js';
import type { LockSnapshot } from '../store/lock-snapshot.interface.js';
import type { ConnectionFlags } from './connection-flags.js';
import { ExitCode } from './exit-code.js';
import { Output, printable, printError } from './output.js';
import { withLocks } from './with-locks.js';

export interface WatchFlags extends ConnectionFlags {
  readonly interval: number;
}

/** Prints the holders and the waiters of a name, now and at each change, until Ctrl-C or SIGTERM. */
export async function watch(name: string, flags: WatchFlags): Promise<number> {
  const out = new Output(flags.json);
  const end = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => end.abort());
  await withLocks(flags, async (locks) => {
    const labels = new Map<string, string>();
    let [shown, trouble] = ['', ''];
    while (!end.signal.aborted) {
      try {
        const snapshot = withLabels(await locks.query(name), labels);
        if (trouble !== '') printError('Redis answers again.');
        trouble = '';
        if (end.signal.aborted) return;
        const state = stateOf(snapshot);
        if (state !== shown) print(out, name, snapshot);
        shown = state;
      } catch (error) {
        // The first query failed: the address is probably wrong.
        if (!(error instanceof LockUnavailableError) || shown === '') throw error;
        if (trouble === '') printError(error.message);
        trouble = error.message;
      }
      await sleep(flags.interval, undefined, { signal: end.signal }).catch(() => {});
    }
  });
  return ExitCode.done;
}

/** Adds labels that holders reported earlier, because they do not answer every time. */
function withLabels({ held, pending }: LockSnapshot, labels: Map<string, string>): LockSnapshot {
  const known = held.map((holder) => {
    const label = holder.label ?? labels.get(holder.owner);
    return label === undefined ? holder : { ...holder, label };
  });
  labels.clear();
  for (const { owner, label } of known) if (label !== undefined) labels.set(owner, label);
  return { held: known, pending };
}

/** The state that counts as a change: without leases, which are renewed, and without waiting times. */
function stateOf({ held, pending }: LockSnapshot): string {
  return JSON.stringify([held.map(({ owner, label }) => [owner, label]), pending.map(({ owner }) => owner)]);
}

function print(out: Output, name: string, { held, pending }: LockSnapshot): void {
  const at = new Date();
  if (out.isJson) return out.json({ at, name, held, pending });
  const holders = held.map(({ owner, label }) => (label === undefined ? owner : `${owner} (${label})`));
  const verb = held.some(({ mode }) => mode === 'shared') ? 'shared by' : 'held by';
  const state = holders.length === 0 ? 'free' : `${verb} ${holders.join(', ')}`;
  const waiting = pending.length === 0 ? '' : `; waiting: ${pending.map(({ owner }) => owner).join(', ')}`;
  out.line(`${at.toISOString()} ${printable(`${state}${waiting}`)}`);
}
