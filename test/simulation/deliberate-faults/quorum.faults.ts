import type { DeliberateFault } from './deliberate-fault.js';

const node = 'test/simulation/quorum/memory-node.ts';
const store = 'lib/store/quorum';

/** What could go wrong on a quorum: on a node, in how votes are counted, in what the engine makes of them. */
export const quorumFaults: readonly DeliberateFault[] = [
  {
    fault: 'a node accepts a token that is not beyond its counter',
    file: node,
    text: `if (Number(first) <= Math.max(last, own ?? 0)) return [2, micros, last];
    keys.set(`,
    // Instances that do not know the clocks propose 0 to hear of them.
    instead: `if (Number(first) === 0) return [2, micros, last];
    keys.set(`,
  },
  {
    fault: 'a release does not outdate requests that arrive after it',
    file: node,
    text: 'if (this.last(fence) < Number(token)) this.accept(fence, token, FENCE_RETENTION);',
    instead: '',
  },
  {
    fault: 'a release wakes a waiter and reserves nothing for it',
    file: node,
    text: 'keys.set(lock, `${instance}:0`, this.ends(claimTtl));',
    instead: 'keys.del(lock);',
  },
  {
    fault: 'a request that arrives a second time shortens a shared lease',
    file: node,
    text: 'if (score !== undefined) keys.zadd(shared, Math.max(score, this.ends(ttl)), hold);',
    instead: 'if (score !== undefined) keys.zadd(shared, this.ends(ttl), hold);',
  },
  {
    fault: 'a writer gets in beside readers on a node',
    file: node,
    text: 'if (owner !== undefined && own === undefined) {',
    instead: "if (owner !== undefined && owner !== 'shared' && own === undefined) {",
  },
  {
    fault: 'a reader overtakes a writer that waits on a node',
    file: node,
    text: "if (other !== instance && this.call(inbox + other, 'waiting')) return true;",
    instead: '',
  },
  {
    fault: 'a renewal brings a lease back to a node that has lost it',
    file: node,
    text: 'if (kept !== owner) return 0;',
    instead: 'if (kept === undefined) keys.set(lock, owner, ms + ttl); else if (kept !== owner) return 0;',
  },
  {
    fault: 'a majority is one node less than it has to be',
    file: `${store}/poll.ts`,
    text: 'return Math.floor(nodes / 2) + 1;',
    instead: 'return Math.floor(nodes / 2);',
  },
  {
    fault: 'a grant from before the last answer may be used',
    file: `${store}/contest.ts`,
    text: 'tokenFloor: Infinity',
    instead: 'tokenFloor: 0',
  },
  {
    fault: 'a contender keeps the votes of a split',
    file: `${store}/contest.ts`,
    text: 'const ended = endings.whereNotTaken(votes, ending);',
    instead: 'const ended = undefined;',
  },
  {
    fault: 'the deadline of a grant counts from the answer',
    file: 'lib/engine/queue/contender.ts',
    text: "this.hear(turn, reply, ttl, now, 'answer');",
    instead: "this.hear(turn, reply, ttl, this.context.clock.now(), 'answer');",
  },
];
