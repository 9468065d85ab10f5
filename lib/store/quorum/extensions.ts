import type { LuaScript } from '../../scripts/lua-script.js';
import { extendScript } from '../../scripts/extend.script.js';
import { extendSharedScript } from '../../scripts/extend-shared.script.js';
import type { Extension } from '../lock-store.js';
import { isSharedOwner } from '../owner-id.js';
import type { Int } from './node-answer.js';
import type { QuorumKeys } from './quorum-keys.js';
import type { QuorumNode } from './quorum-node.js';

type Extended = readonly [extension: Extension, renewed: boolean];

/** Asks one node to renew leases; tells for each whether it did. */
export async function extendOn(
  node: QuorumNode,
  keys: QuorumKeys,
  batch: readonly Extension[],
): Promise<ReadonlyMap<Extension, boolean>> {
  const shared = batch.filter(({ owner }) => isSharedOwner(owner));
  const alone = shared.length === 0 ? batch : batch.filter(({ owner }) => !isSharedOwner(owner));
  const extended = await Promise.all([
    extend(node, extendScript, alone, ({ name }) => [keys.lock(name)]),
    extend(node, extendSharedScript, shared, ({ name }) => [keys.lock(name), keys.shared(name)]),
  ]);
  return new Map(extended.flat());
}

async function extend(
  node: QuorumNode,
  script: LuaScript,
  batch: readonly Extension[],
  keysOf: (extension: Extension) => readonly string[],
): Promise<readonly Extended[]> {
  if (batch.length === 0) return [];
  const args = batch.flatMap(({ owner, ttl, exact }) => [owner, `${exact ? '=' : ''}${Math.ceil(ttl)}`]);
  const reply = await node.run<Int[]>('take', script, batch.flatMap(keysOf), args);
  return batch.map((extension, i) => [extension, Number(reply[i]) === 1]);
}
