import type { LockService } from '../service/lock.service.js';
import type { LockInfo, LockSnapshot } from '../store/lock-snapshot.interface.js';
import { formatDuration } from './duration.js';
import { ExitCode } from './exit-code.js';
import { type Output, permitsOf, printable } from './output.js';

/** Shows the holders and the waiters of a name. */
export async function query(locks: LockService, out: Output, name: string): Promise<number> {
  const snapshot = await locks.query(name);
  out.result({ name, ...snapshot }, () => printSnapshot(out, name, snapshot));
  return snapshot.held.length > 0 ? ExitCode.done : ExitCode.free;
}

/** Prints the holders, then the waiters in order. */
export function printSnapshot(out: Output, name: string, { held, pending, done }: LockSnapshot): void {
  if (done) out.line(`A result is kept from ${time(done.at)} until ${time(done.until)}.`);
  if (held.length + pending.length === 0) return out.line(printable(`${name} is free, and has no waiters.`));
  out.table(
    ['', 'owner', 'label', 'since', 'lease', 'token'],
    [
      ...held.map((each) => row(each.mode === 'shared' ? `shares${permitsOf(each)}` : 'holds', each)),
      ...pending.map(waiterRow),
    ],
  );
}

function row(what: string, { owner, label = '', since, remaining, fencingToken }: LockInfo): string[] {
  return [what, owner, label, time(since), formatDuration(remaining), String(fencingToken ?? '')];
}

function waiterRow(waiter: LockInfo): string[] {
  const { owner, since, waited = 0 } = waiter;
  return [`waits ${formatDuration(waited)}${permitsOf(waiter)}`, owner, '', time(since), '', ''];
}

function time(date: Date | undefined): string {
  return date === undefined ? '' : date.toISOString();
}
