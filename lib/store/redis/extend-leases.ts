import type { ReplicaDemand } from '../grant.js';
import type { Extended, Extension } from '../lock-store.js';
import { extendScript } from '../scripts/extend.script.js';
import { hasCode } from './connection/redis-error.js';
import { ScriptBatch, type ScriptServer } from './script-batch.js';
import { integer } from './connection/script-reply.js';

/** Confirms a lease that replicas must have. */
type Confirm = (extension: Extension, demand: ReplicaDemand) => Promise<Extended>;

/** Extends leases by {@link extendEach}; those that Redis refuses count as unknown. Rejects if Redis answered none. */
export async function extendLeases(
  batch: readonly Extension[],
  server: ScriptServer,
  confirm?: Confirm,
): Promise<Extended[]> {
  const settled = await Promise.allSettled(extendEach(batch, server, confirm));
  const extended = settled.map((each) => (each.status === 'fulfilled' ? each.value : undefined));
  const failed = settled.find((each) => each.status === 'rejected');
  if (failed && extended.every((each) => each === undefined)) throw failed.reason;
  return extended;
}

/**
 * Extends leases independently: a refusal of one does not affect the others. With `confirm`, it lets replicas confirm
 * the leases that require some.
 */
export function extendEach(
  batch: readonly Extension[],
  server: ScriptServer,
  confirm?: Confirm,
): Promise<Extended>[] {
  const requests = new ScriptBatch(
    ({ keys, args }) => server.run(extendScript, keys, args),
    server.maxBatch ?? Infinity,
  );
  const answers = batch.map((extension) => {
    const { name, owner, ttl, exact, replicas } = extension;
    if (replicas && confirm) return confirm(extension, replicas);
    requests.content.keys.push(...server.keySpace.heldKeys(name));
    requests.content.args.push(owner, `${exact ? '=' : ''}${Math.ceil(ttl)}`);
    return requests.join(integer).catch(ofOverwritten);
  });
  requests.flush();
  return answers;
}

/** If another client has overwritten the key, the lease is lost. */
function ofOverwritten(error: unknown): Extended {
  if (hasCode(error, 'WRONGTYPE')) return 0;
  throw error;
}
