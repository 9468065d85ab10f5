import type { ReplicaDemand } from '../grant.js';
import type { Extended, Extension } from '../lock-store.js';
import { extendScript } from '../scripts/extend.script.js';
import type { LuaScript } from '../scripts/lua-script.js';
import { isOfOtherType } from './connection/redis-error.js';
import { type BatchContent, ScriptBatch } from './script-batch.js';
import { integer } from './connection/script-reply.js';

/** Where leases are extended, and how. */
export interface LeaseServer {
  keys(name: string): readonly [lock: string, queue: string, shared: string];
  send(script: LuaScript, content: BatchContent): Promise<unknown>;
  /** Has replicas learn of a lease that has to be known to them. */
  confirm?(extension: Extension, demand: ReplicaDemand): Promise<Extended>;
  /** Most leases in one call. */
  readonly maxBatch?: number | undefined;
}

/** Extends leases, each for itself: what is refused to one is not refused to others. Rejects where nothing was found out. */
export async function extendLeases(batch: readonly Extension[], server: LeaseServer): Promise<Extended[]> {
  const requests = new ScriptBatch(
    (content) => server.send(extendScript, content),
    server.maxBatch ?? Infinity,
  );
  const answers = batch.map((extension) => {
    const { name, owner, replicas } = extension;
    if (replicas && server.confirm) return server.confirm(extension, replicas);
    const [lock, , shared] = server.keys(name);
    requests.content.keys.push(lock, shared);
    requests.content.args.push(owner, leaseArgument(extension));
    return requests.join(integer);
  });
  requests.flush();
  const settled = await Promise.allSettled(answers);
  const extended = settled.map((each): Extended => {
    if (each.status === 'fulfilled') return each.value;
    // Whoever overwrote its key has taken it.
    return isOfOtherType(each.reason) ? 0 : undefined;
  });
  const failed = settled.find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected' && extended.every((each) => each === undefined)) throw failed.reason;
  return extended;
}

/** How the scripts take a lease: in whole milliseconds, with `=` before them where it may get shorter. */
export function leaseArgument({ ttl, exact }: Extension): string {
  return `${exact ? '=' : ''}${Math.ceil(ttl)}`;
}
