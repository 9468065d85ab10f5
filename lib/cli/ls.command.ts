import type { LockService } from '../service/lock.service.js';
import type { LockListing } from '../store/lock-listing.js';
import type { ConnectionFlags } from './connection-flags.js';
import { formatDuration } from './duration.js';
import { ExitCode } from './exit-code.js';
import { type Output, permitsOf } from './output.js';

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
export async function ls(
  locks: LockService,
  out: Output,
  prefix: string,
  { limit, sort }: LsFlags,
): Promise<number> {
  /** By name, since SCAN may give one twice. */
  const found = new Map<string, LockListing>();
  for await (const listing of locks.list({ prefix })) {
    found.set(listing.name, listing);
    // Another order than that of the names needs all of them.
    if (sort === 'name' && found.size > limit) break;
  }
  const isPart = found.size > limit;
  const names = [...found.values()]
    .slice(0, sort === 'name' ? limit : Infinity)
    .toSorted(COMPARE[sort])
    .slice(0, limit);
  out.result({ names, isPart }, () => print(out, names, isPart));
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
