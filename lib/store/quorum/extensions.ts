import type { Extended, Extension } from '../lock-store.js';
import { extendLeases } from '../redis/extend-leases.js';
import { isAnswer, type Poll } from './poll.js';
import type { QuorumKeys } from './quorum-keys.js';

/** Renews leases on all nodes; resolves as soon as each extension is decided. */
export function extendByMajority(
  quorum: Poll,
  keys: QuorumKeys,
  batch: readonly Extension[],
): Promise<Extended[]> {
  return quorum.ask<Extended[], Extended[]>(
    (node) =>
      extendLeases(batch, {
        keys: (name) => keys.keys(name),
        send: (script, content) => node.run('take', script, content.keys, content.args),
      }),
    (votes, open) => {
      const results = batch.map((_, i) => {
        const isRenewed = quorum.tally(votes, (replies) => {
          const said = replies[i];
          return said === undefined ? undefined : said > 0;
        });
        // If a lease lasts longer than requested on a single node, it may block later proposals there.
        const longest = Math.max(1, ...votes.filter(isAnswer).map((replies) => replies[i] ?? 0));
        return isRenewed === undefined ? undefined : Number(isRenewed) * longest;
      });
      if (open > 0 && results.includes(undefined)) return undefined;
      if (results.every((result) => result === undefined)) throw quorum.noMajority(votes);
      return results;
    },
  );
}
