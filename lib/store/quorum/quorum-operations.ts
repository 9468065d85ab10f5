import type { LockInfo, LockSnapshot } from '../lock-snapshot.interface.js';
import { instanceOf } from '../owner-id.js';
import { list } from '../redis/connection/script-reply.js';
import { lookAt, NOTHING } from '../redis/query-names.js';
import { scanNames } from '../redis/scan-names.js';
import { queryScript } from '../scripts/query.script.js';
import type { ForcedRelease, StoreNode, StoreOperations } from '../store-operations.js';
import type { Endings } from './endings.js';
import { isAnswer, majorityOf, nodeError, type Poll, type Vote } from './poll.js';
import type { QuorumKeys, QuorumNode } from './quorum-node.js';
import { isReservation } from './verdict.js';

/** Queries the nodes and merges their replies. */
export class QuorumOperations implements StoreOperations {
  constructor(
    private readonly quorum: Poll,
    private readonly keys: QuorumKeys,
    private readonly endings: Endings,
  ) {}

  /** Whether each node answers, within the time for any request. */
  nodes(timeout: number): Promise<readonly StoreNode[]> {
    const keys = this.keys.keys('health');
    return this.quorum.ask<unknown[], StoreNode[]>(
      async (node) => list(await node.run('take', queryScript, keys, [])),
      (votes, open) => {
        if (open > 0) return undefined;
        return this.quorum.nodes.map(({ where: name }, i) => {
          const vote = votes[i];
          return { name, trouble: vote instanceof Error ? vote.message : undefined };
        });
      },
      Math.min(timeout, this.quorum.timeout),
    );
  }

  async query(name: string): Promise<LockSnapshot> {
    return this.merged(await this.lookAtAll([name]), 0);
  }

  async forceRelease(name: string, owners?: readonly string[]): Promise<ForcedRelease> {
    const votes = await this.lookAtAll([name]);
    const leases = votes.filter(isAnswer).flatMap(([view = NOTHING]) => view.held);
    const all = new Set(leases.map(({ owner }) => owner).filter((owner) => !isReservation(owner)));
    // Holds of a minority end as well.
    const ended = [...all].filter((owner) => owners?.includes(owner) ?? true);
    const held = this.merged(votes, 0).held.map(({ owner }) => owner);
    const hadMajority = await Promise.all(
      ended.map((owner) => this.endings.everywhere({ name, owner, token: 0, mode: 'revoke', place: '' })),
    );
    return {
      released: ended.filter((owner, i) => hadMajority[i] && held.includes(owner)),
      holders: held.filter((owner) => !ended.includes(owner)),
    };
  }

  /**
   * Lists the held names with a prefix. A majority has each name, so scanning all nodes except a minority finds all
   * names. A name is listed with the first scanned node that has it.
   */
  async *list(beginning: string): AsyncGenerator<readonly LockSnapshot[], void> {
    const { nodes, majority } = this.quorum;
    const searched: Vote<QuorumNode>[] = nodes.map(() => undefined);
    const isComplete = (): boolean => searched.filter(isAnswer).length > nodes.length - majority;
    for (const [index, node] of nodes.entries()) {
      if (isComplete()) return;
      try {
        for await (const names of this.namesAt(node, beginning)) yield await this.heldBeyond(searched, names);
        searched[index] = node;
      } catch (cause) {
        searched[index] = nodeError(node, cause);
      }
    }
    if (!isComplete()) throw this.quorum.noMajority(searched);
  }

  /** Queries the names that none of the `searched` nodes has. */
  private async heldBeyond(
    searched: readonly Vote<QuorumNode>[],
    names: readonly string[],
  ): Promise<LockSnapshot[]> {
    const votes = await this.lookAtAll(names);
    const isTold = (i: number): boolean =>
      votes.some(
        (view, node) => isAnswer(searched[node]) && isAnswer(view) && (view[i]?.held.length ?? 0) > 0,
      );
    return names
      .flatMap((_, i) => (isTold(i) ? [] : [this.merged(votes, i)]))
      .filter(({ held }) => held.length > 0);
  }

  private merged(votes: readonly Vote<readonly LockSnapshot[]>[], i: number): LockSnapshot {
    const views = votes.filter(isAnswer).map((view) => view[i] ?? NOTHING);
    return mergeSnapshots(views, votes.length);
  }

  private lookAtAll(names: readonly string[]): Promise<readonly Vote<readonly LockSnapshot[]>[]> {
    return this.quorum.askAll((node) => lookAt(names, this.keys.at(node)));
  }

  private namesAt(node: QuorumNode, beginning: string): AsyncIterable<readonly string[]> {
    const { quorum, keys } = this;
    return scanNames(
      {
        run: (script, own, args) => quorum.answerOf(node.run('take', script, own, args)),
        keys: [keys.unused],
        before: node.clientPrefix + keys.before,
      },
      beginning,
    );
  }
}

/**
 * Merges the snapshots of one name: what a majority may know, because silent nodes may know it as well. No caller
 * overtakes an instance that waits at a majority.
 */
export function mergeSnapshots(snapshots: readonly LockSnapshot[], nodes: number): LockSnapshot {
  const majority = majorityOf(nodes);
  const silent = nodes - snapshots.length;
  const isKnown = (copies: readonly LockInfo[]): boolean => copies.length + silent >= majority;
  const held = copiesOf(snapshots.flatMap((each) => each.held).filter(({ owner }) => !isReservation(owner)))
    .filter(isKnown)
    .map((copies) => leaseOf(copies, majority))
    .filter((info) => info !== undefined);
  const waits = snapshots
    .flatMap((each) => each.pending)
    .toSorted((a, b) => Number(a.since) - Number(b.since));
  const pending = copiesOf(waits)
    .filter(isKnown)
    .flatMap(([earliest]) => earliest ?? [])
    .filter((info) => !held.some(({ owner }) => instanceOf(owner) === info.owner));
  return { held, pending };
}

/** Groups the nodes' entries by owner, in the given order. */
function copiesOf(infos: readonly LockInfo[]): LockInfo[][] {
  const byOwner = new Map<string, LockInfo[]>();
  for (const each of infos) byOwner.set(each.owner, [...(byOwner.get(each.owner) ?? []), each]);
  return [...byOwner.values()];
}

/** Merges the entries of a hold, which lasts while a majority keeps it. */
function leaseOf(copies: readonly LockInfo[], majority: number): LockInfo | undefined {
  const longestFirst = copies.toSorted((a, b) => (b.remaining ?? Infinity) - (a.remaining ?? Infinity));
  return longestFirst[Math.min(majority, copies.length) - 1];
}
