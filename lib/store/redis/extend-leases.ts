import type { ReplicaDemand } from '../grant.js';
import type { Extended, Extension } from '../lock-store.js';
import { extendScript } from '../scripts/extend.script.js';
import type { LuaScript } from '../scripts/lua-script.js';
import { hasCode } from './connection/redis-error.js';
import type { KeySpace } from './key-space.js';
import { type BatchContent, ScriptBatch } from './script-batch.js';
import { integer } from './connection/script-reply.js';

/** Runs the extension of leases on a server. */
export interface LeaseServer {
  readonly keySpace: KeySpace;
  send(script: LuaScript, content: BatchContent): Promise<unknown>;
  /** Lets replicas confirm a lease. */
  confirm?(extension: Extension, demand: ReplicaDemand): Promise<Extended>;
  /** Maximum number of leases in one call. */
  readonly maxBatch?: number | undefined;
}

/** Extends leases independently: a refusal of one does not affect the others. Rejects if Redis answered none. */
export async function extendLeases(batch: readonly Extension[], server: LeaseServer): Promise<Extended[]> {
  const requests = new ScriptBatch(
    (content) => server.send(extendScript, content),
    server.maxBatch ?? Infinity,
  );
  const answers = batch.map((extension) => {
    const { name, owner, ttl, exact, replicas } = extension;
    if (replicas && server.confirm) return server.confirm(extension, replicas);
    requests.content.keys.push(...server.keySpace.heldKeys(name));
    requests.content.args.push(owner, `${exact ? '=' : ''}${Math.ceil(ttl)}`);
    return requests.join(integer);
  });
  requests.flush();
  const settled = await Promise.allSettled(answers);
  const extended = settled.map((each): Extended => {
    if (each.status === 'fulfilled') return each.value;
    // Another client has overwritten the key, so the lease is lost.
    return hasCode(each.reason, 'WRONGTYPE') ? 0 : undefined;
  });
  const failed = settled.find((each) => each.status === 'rejected');
  if (failed && extended.every((each) => each === undefined)) throw failed.reason;
  return extended;
}
