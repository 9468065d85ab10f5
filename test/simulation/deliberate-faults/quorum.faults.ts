import type { DeliberateFault } from './deliberate-fault.js';

const node = 'test/simulation/quorum/memory-node.ts';
const store = 'lib/store/quorum';

/** What could go wrong on a quorum: on a node, in how votes are counted, in what the engine makes of them. */
export const quorumFaults: readonly DeliberateFault[] = [
  {
    fault: 'a node accepts a token that does not exceed its counter',
    file: node,
    text: `if (Number(first) <= Math.max(last, own ?? 0)) return [2, micros, last];
    keys.set(`,
    // Instances that do not know the clocks propose 0 to hear of them.
    instead: `if (Number(first) === 0) return [2, micros, last];
    keys.set(`,
  },
  {
    fault: 'a release does not outdate requests that arrive later',
    file: node,
    text: 'if (this.last(fence) < Number(token)) this.accept(fence, token, FENCE_RETENTION);',
    instead: '',
  },
  {
    fault: 'a release reserves the lock for no waiter',
    file: node,
    text: 'keys.set(lock, `${instance}:0`, this.ends(claimTtl));',
    instead: 'keys.del(lock);',
  },
  {
    fault: 'a renewal revives a lease that the node has lost',
    file: node,
    text: 'if (keys.get(lock) !== owner) return 0;',
    instead:
      'if (keys.get(lock) === undefined) keys.set(lock, owner, ms + ttl); else if (keys.get(lock) !== owner) return 0;',
  },
  {
    fault: 'one node fewer than a majority is enough',
    file: `${store}/poll.ts`,
    text: 'return Math.floor(nodes / 2) + 1;',
    instead: 'return Math.floor(nodes / 2);',
  },
  {
    fault: 'a grant from before the last reply is used',
    file: `${store}/contest.ts`,
    text: 'tokenFloor: Infinity',
    instead: 'tokenFloor: 0',
  },
  {
    fault: 'a contender keeps its votes after a split',
    file: `${store}/contest.ts`,
    text: "const ended = endings.afterVote(votes, { name, token: last, mode: 'quiet', place });",
    instead: 'const ended = undefined;',
  },
  {
    fault: 'the deadline of a grant counts from the reply',
    file: 'lib/engine/queue/replies.ts',
    text: 'return take(record, bid, inReply(record, state, reply), sentAt);',
    instead: 'return take(record, bid, inReply(record, state, reply), record.now);',
  },
];
