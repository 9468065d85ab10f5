import { type Grant, isGrant } from '../../../../lib/store/grant.js';
import { quorumReleaseScript } from '../../../../lib/store/scripts/quorum-release.script.js';
import type { LuaScript } from '../../../../lib/store/scripts/lua-script.js';
import {
  NotAsked,
  QuorumKeys,
  type QuorumNode,
  type RequestKind,
} from '../../../../lib/store/quorum/quorum-node.js';
import type { StoreEvents } from '../../../../lib/store/lock-store.js';
import { QuorumStore } from '../../../../lib/store/quorum/quorum.store.js';
import { type Clock, SystemClock } from '../../../../lib/primitives/clock.js';
import { NO_EVENTS } from '../../../support/no-events.js';
import { MemoryNode } from '../../../simulation/quorum/memory-node.js';

/** A node of a quorum in memory, which answers without a network. */
export class NearNode implements QuorumNode {
  readonly where = 'a near node';
  readonly clientPrefix = '';
  /** Whether it can notify this instance. */
  listening = true;
  /** What it reports to the store that has opened it. */
  events: StoreEvents = NO_EVENTS;
  readonly trouble = new Error('There is none.');
  /** Whether it is known to be unreachable: requests that acquire fail at once, and others wait for it. */
  isAway = false;
  /** Whether it receives requests and never replies. */
  isSilent = false;
  /** The reply to a query about any name, instead of the node's own. */
  refusal: Error | undefined;
  private readonly node = new MemoryNode(() => Date.now());
  private readonly locks = new Set<string>();

  async run(
    kind: RequestKind,
    { name }: LuaScript,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<unknown> {
    if (this.isAway && kind === 'take') throw new NotAsked('It is away.');
    if (this.isAway || this.isSilent) return new Promise(() => undefined);
    if (name === 'command' && args[0] === 'SCAN') return ['0', [...this.locks]];
    if (name === 'query' && this.refusal) return Array.from({ length: keys.length / 3 }, () => this.refusal);
    if (name === 'quorum-acquire') this.locks.add(keys[0] ?? '');
    return this.node.run(name, keys, args);
  }

  /** Counts an instance among the receivers of its channel. */
  subscribe(instance: string, hear: (message: string) => void = () => undefined): void {
    this.node.subscribe(`lock:inbox:${instance}`, hear);
  }

  connect(): void {}
  open(events: StoreEvents): void {
    this.events = events;
  }
  close(): void {}
}

export function storeOn(
  nodes: readonly QuorumNode[],
  {
    instance = 'me',
    nodeTimeout = 1_000,
    clock = new SystemClock(),
  }: { instance?: string; nodeTimeout?: number; clock?: Clock } = {},
): QuorumStore {
  return new QuorumStore({
    nodes,
    keyPrefix: 'lock:',
    instance,
    nodeTimeout,
    clock,
    random: Math.random,
  });
}

/** Lets the nodes accept a token of the name n far ahead of their clocks; returns it. */
export async function acceptTokensAhead(nodes: readonly QuorumNode[]): Promise<number> {
  const ahead = (Date.now() + 5_000) * 1_000;
  const keys = new QuorumKeys('old', 'lock:', 1_000).of('n');
  const args = ['old', ahead, 'quiet', '', 'lock:inbox:', 2_000, 'n'];
  for (const node of nodes) await node.run('end', quorumReleaseScript, keys, args);
  return ahead;
}

/** The grant that a store replies with. */
export async function granted(call: Promise<object | undefined>): Promise<Grant> {
  const reply = (await call) as Grant | undefined;
  if (!reply || !isGrant(reply)) throw new Error('The lock was not granted.');
  return reply;
}
