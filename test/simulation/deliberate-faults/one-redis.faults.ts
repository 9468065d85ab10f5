import type { DeliberateFault } from './deliberate-fault.js';

const server = 'lib/store/memory/memory-lock-server.ts';
const replies = 'lib/engine/queue/replies.ts';

/** What could go wrong on one Redis: in the scripts, in how the engine reads their replies, between the two. */
export const oneRedisFaults: readonly DeliberateFault[] = [
  {
    fault: 'an acquire takes a free lock without a look at the queue',
    file: server,
    text: 'if (!next || next === place) return',
    instead: 'return',
  },
  {
    fault: 'an extension extends the lease of any holder',
    file: server,
    text: `number {
    const leases = this.leasesLike(owner);`,
    instead: `number {
    const leases = this.leasesLike(owner);
    owner = leases.of(name).keys().next().value ?? owner;`,
  },
  {
    fault: 'an extension revives an expired lease',
    file: server,
    text: 'else leases.prolong(name, owner, ttl);',
    instead: 'else leases.keep(name, owner, ttl);',
  },
  {
    fault: 'a release ends the lease of any holder',
    file: server,
    text: 'const released = leases.has(name, owner) && leases.delete(name, owner);',
    instead: 'const released = leases.of(name).size > 0; leases.clear(name);',
  },
  {
    fault: 'the server hands a lock to an instance that does not listen',
    file: server,
    text: 'if (!first || !isHeard) {',
    instead: 'if (!first) {',
  },
  {
    fault: 'an acquire returns a hold that its instance has released',
    file: server,
    text: 'this.endOwn(instance, name, endedTokenOfName);',
    instead: '',
  },
  {
    fault: 'the next hold of a turn keeps the owner id',
    file: server,
    text: 'return this.grant(name, instanceOf(owner), ttl, tokens);',
    instead: `const block = this.tokens.mint(tokens);
    this.locks.keep(name, owner, ttl);
    return { owner, ...block };`,
  },
  {
    fault: 'no token floor: a hand-off from before the last reply is used',
    file: server,
    text: 'tokenFloor: this.tokens.floor()',
    instead: 'tokenFloor: 0',
  },
  {
    fault: 'an instance does not adopt its own grant after a lost reply',
    file: server,
    text: 'if (owner?.startsWith(`${instance}:`)) {',
    instead: 'if (false) {',
  },
  {
    fault: 'the deadline of a grant counts from the reply',
    file: replies,
    text: 'return take(record, bid, inReply(record, state, reply), sentAt);',
    instead: 'return take(record, bid, inReply(record, state, reply), record.now);',
  },
  {
    fault: 'the deadline of a hand-off counts from its arrival',
    file: replies,
    text: 'takenReply?.sentAt ?? -Infinity',
    instead: 'record.now',
  },
  {
    fault: 'a waiter does not ask again',
    file: replies,
    text: 'askAt: Math.max(now, takenReply.answeredAt + delay)',
    instead: 'askAt: now + 1e9',
  },
  {
    fault: 'deadlines allow for no clock drift',
    file: 'lib/engine/hold/lease.ts',
    text: 'return sentAt + ttl - (ttl * SKEW + LATENCY);',
    instead: 'return sentAt + ttl;',
  },
  {
    fault: 'a waiter that gives up stays in the queue',
    file: server,
    text: 'if (own !== undefined) this.queues.dequeue(name, own);',
    instead: '',
  },
  {
    fault: 'a writer is admitted beside readers',
    file: server,
    text: 'if (this.isFree(name)) {',
    instead: 'if (this.locks.of(name).size === 0) {',
  },
  {
    fault: 'more permits than the limit are granted',
    file: server,
    text: 'const room = shared ? fitting(shared, wanted, held) : Number(held === 0);',
    instead: 'const room = shared ? wanted : Number(held === 0);',
  },
  {
    fault: 'a reader overtakes a waiting writer',
    file: server,
    text: 'const isOpen = this.queues.of(name).size === 0 &&',
    instead: 'const isOpen =',
  },
  {
    fault: 'two instances attach one detached hold',
    file: server,
    text: 'const moves = changes.filter(({ from, name }) => has(name, from));',
    instead: 'const moves = changes.filter(({ from, name }) => this.leasesLike(from).of(name).size > 0);',
  },
  {
    fault: 'a hand-off goes to the waiter that came last',
    file: server,
    text: 'for (const place of [...this.queues.of(name).keys()]) {',
    instead: 'for (const place of [...this.queues.of(name).keys()].toReversed()) {',
  },
  {
    fault: 'a waiter for a shared hold does not acquire when it is told that the lock is free',
    file: 'lib/engine/lock-engine.ts',
    text: `released(name: string): void {
    this.queues.get(name)?.report({ kind: 'ask-again' });`,
    instead: 'released(name: string): void {',
  },
  {
    fault: 'a forced release does not notify the holder',
    file: server,
    text: 'this.inboxes.send(instanceOf(each), (inbox) => inbox.revoked(name, each));',
    instead: '',
  },
];

/** What could go wrong after a request that the server refuses for good. The exploration finds it, too. */
export const refusalFaults: readonly DeliberateFault[] = [
  {
    fault: 'a lock whose yield is refused for good is not released',
    file: 'lib/engine/queue/name-machine.ts',
    text: 'if (isRefused) record.release(state.lease);',
    instead: 'if (false) record.release(state.lease);',
  },
  {
    fault: 'a refused request makes an instance forget an earlier one',
    file: 'lib/engine/queue/name-machine.ts',
    text: 'if (isRefused && !bid.isInDoubt && ',
    instead: 'if (isRefused && ',
  },
  {
    fault: 'a refused request makes an instance forget its first copy',
    file: 'lib/engine/queue/name-machine.ts',
    text: 'if (record.isBusy && record.bid) record.bid.isInDoubt = true;',
    instead: '',
  },
];

/** What could go wrong with a call for several names. */
export const severalNamesFaults: readonly DeliberateFault[] = [
  {
    fault: 'names behind a missing one are kept',
    file: 'lib/service/acquire/several-names.ts',
    text: 'this.releaseFrom(prefix);',
    instead: 'void prefix;',
  },
  {
    fault: 'a call goes on with a name whose lease has expired',
    file: 'lib/service/acquire/several-names.ts',
    text: 'if (lost < 0) return;',
    instead: 'if (lost < 9) return;',
  },
  {
    fault: 'a call that fails keeps the names that it has',
    file: 'lib/service/acquire/several-names.ts',
    text: 'this.releaseFrom(0);',
    instead: 'void 0;',
  },
];
