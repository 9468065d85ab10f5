import type { ReplicaDemand } from '../grant.js';
import type { Extended, Extension } from '../lock-store.js';
import { extendScript } from '../scripts/extend.script.js';
import { hasCode } from './connection/redis-error.js';
import { ScriptBatch, type ScriptServer } from './script-batch.js';
import { integer } from './connection/script-reply.js';

/**
 * Extends leases independently: a refusal of one does not affect the others. Rejects if Redis answered none. With
 * `confirm`, it lets replicas confirm the leases that require some.
 */
export async function extendLeases(
  batch: readonly Extension[],
  server: ScriptServer,
  confirm?: (extension: Extension, demand: ReplicaDemand) => Promise<Extended>,
): Promise<Extended[]> {
  const requests = new ScriptBatch(
    ({ keys, args }) => server.run(extendScript, keys, args),
    server.maxBatch ?? Infinity,
  );
  const answers = batch.map((extension) => {
    const { name, owner, ttl, exact, replicas } = extension;
    if (replicas && confirm) return confirm(extension, replicas);
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
