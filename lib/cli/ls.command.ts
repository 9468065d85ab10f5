import type { LockListing } from '../store/lock-listing.js';
import type { ConnectionFlags } from './connection-flags.js';
import { formatDuration } from './duration.js';
import { ExitCode } from './exit-code.js';
import { Output } from './output.js';
import { withLocks } from './with-locks.js';

export interface LsFlags extends ConnectionFlags {
  readonly limit: number;
}

/** Lists the held names. */
export async function ls(prefix: string, flags: LsFlags): Promise<number> {
  const out = new Output(flags.json);
  /** By name, since SCAN may give one twice. */
  const found = new Map<string, LockListing>();
  const isPart = await withLocks(flags, async (locks) => {
    for await (const listing of locks.list({ prefix })) {
      if (found.size === flags.limit && !found.has(listing.name)) return true;
      found.set(listing.name, listing);
    }
    return false;
  });
  const names = [...found.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
  if (out.isJson) out.json({ names, isPart });
  else print(out, names, isPart);
  return ExitCode.done;
}

function print(out: Output, names: readonly LockListing[], isPart: boolean): void {
  if (names.length === 0) return out.line('No lock is held.');
  out.table(
    ['name', 'holder', 'label', 'age', 'lease', 'waiting'],
    names.map(({ name, owner, holders, permits, label = '', since, remaining, waiting }) => [
      name,
      (holders > 1 ? `${holders} shared` : owner) + (permits === undefined ? '' : `, ${permits} permits`),
      label,
      since === undefined ? '' : formatDuration(Math.max(0, Date.now() - since.getTime())),
      formatDuration(remaining),
      String(waiting),
    ]),
  );
  if (isPart) out.line(`More names are held than these ${names.length}: see --limit.`);
}
