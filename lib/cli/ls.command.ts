import type { LockListing } from '../store/lock-listing.js';
import type { ConnectionFlags } from './connection-flags.js';
import { formatDuration } from './duration.js';
import { ExitCode } from './exit-code.js';
import { Output } from './output.js';
import { permitsOf } from './query.command.js';
import { withLocks } from './with-locks.js';

export interface LsFlags extends ConnectionFlags {
  readonly limit: number;
  readonly sort: keyof typeof COMPARE;
}

const COMPARE = {
  name: (a: LockListing, b: LockListing) => (a.name < b.name ? -1 : 1),
  // The age of shared holds is unknown; they are last.
  age: (a: LockListing, b: LockListing) =>
    (a.since?.getTime() ?? Infinity) - (b.since?.getTime() ?? Infinity),
  waiters: (a: LockListing, b: LockListing) => b.waiting - a.waiting,
};

/** The orders of `--sort`. */
export const SORTS = Object.keys(COMPARE);

/** Lists the held names. */
export async function ls(prefix: string, flags: LsFlags): Promise<number> {
  const out = new Output(flags.json);
  /** By name, since SCAN may give one twice. */
  const found = new Map<string, LockListing>();
  await withLocks(flags, async (locks) => {
    for await (const listing of locks.list({ prefix })) {
      found.set(listing.name, listing);
      // Another order than that of the names needs all of them.
      if (flags.sort === 'name' && found.size > flags.limit) return;
    }
  });
  const isPart = found.size > flags.limit;
  const names = [...found.values()]
    .slice(0, flags.sort === 'name' ? flags.limit : Infinity)
    .toSorted(COMPARE[flags.sort])
    .slice(0, flags.limit);
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
      (holders > 1 ? `${holders} shared` : owner) + permitsOf({ permits }),
      label,
      since === undefined ? '' : formatDuration(Math.max(0, Date.now() - since.getTime())),
      formatDuration(remaining),
      String(waiting),
    ]),
  );
  if (isPart) out.line(`More names are held than these ${names.length}: see --limit.`);
}
