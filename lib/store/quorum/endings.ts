import { isOne } from '../redis/connection/script-reply.js';
import { quorumReleaseScript } from '../scripts/quorum-release.script.js';
import { isTaken, type NodeAnswer } from './node-answer.js';
import { isAnswer, type Poll, type Vote } from './poll.js';
import type { QuorumKeys } from './quorum-keys.js';
import { NotAsked, type QuorumNode } from './quorum-node.js';

/** The content of a request to a node that ends a hold, a grant or a wait. */
export interface Ending {
  readonly name: string;
  /** Ends grants up to this token; later requests for tokens up to it are outdated. */
  readonly token: number;
  /** Whether to notify waiting instances. */
  readonly mode: 'wake' | 'quiet';
  /** A place in the queue to take, `leave` to leave it, or '' for neither. */
  readonly place: string;
}

/** Ends holds, grants without a majority, and places in queues. */
export class Endings {
  private readonly underWay = new Set<Promise<unknown>>();

  constructor(
    private readonly quorum: Poll,
    private readonly keys: QuorumKeys,
    private readonly nodeTimeout: number,
  ) {}

  /** Sends an ending to all nodes; resolves to whether a majority still had the lock. */
  everywhere(ending: Ending): Promise<boolean> {
    const { quorum } = this;
    return quorum.ask({
      timeout: this.nodeTimeout,
      ask: async (node) => ({ released: await this.send(node, ending) }),
      decide: (votes, open) => {
        const result = quorum.tally(votes, ({ released }) => released);
        if (result !== undefined || open > 0) return result;
        if (votes.filter(isAnswer).length < quorum.majority) throw quorum.noMajority(votes);
        return false;
      },
    });
  }

  /** Sends an ending for which no caller waits. If the request fails, the lease expires, as after a crash. */
  inBackground(node: QuorumNode, ending: Ending): Promise<unknown> {
    const ended: Promise<unknown> = this.send(node, ending)
      .catch(() => undefined)
      .finally(() => this.underWay.delete(ended));
    this.underWay.add(ended);
    return ended;
  }

  /**
   * Sends an ending to all nodes that did not report the name as taken. A silent node may still receive the acquire,
   * and no other request would end that grant. Resolves when the reachable nodes have confirmed the ending, at the
   * latest after `nodeTimeout`.
   */
  async whereNotTaken(votes: readonly Vote<NodeAnswer>[], ending: Ending): Promise<void> {
    const confirmed = this.quorum.nodes.flatMap((node, i) => {
      const vote = votes[i];
      if (isTaken(vote)) return [];
      const ended = this.inBackground(node, ending);
      return vote instanceof Error ? [] : [ended];
    });
    await this.quorum.answerOf(Promise.all(confirmed), this.nodeTimeout).catch(() => undefined);
  }

  /**
   * Sends an ending in the background to the nodes that received the acquire, for a name that is soon requested again
   * or cancelled. The other nodes receive nothing, so that requests do not accumulate during an outage.
   */
  whereAsked(votes: readonly Vote<NodeAnswer>[], ending: Ending): void {
    this.quorum.nodes.forEach((node, i) => {
      const vote = votes[i];
      const wasAsked = !(vote instanceof Error && vote.cause instanceof NotAsked);
      if (wasAsked && !isTaken(vote)) void this.inBackground(node, ending);
    });
  }

  /** Sends an ending to all nodes in the background. */
  behind(ending: Ending): void {
    for (const node of this.quorum.nodes) void this.inBackground(node, ending);
  }

  /** Removes this instance from a node's queue. */
  leave(node: QuorumNode, name: string): void {
    void this.inBackground(node, { name, token: 0, mode: 'quiet', place: 'leave' });
  }

  /** Passes on a lock that a node has reserved for this instance. */
  passOn(node: QuorumNode, name: string): void {
    void this.inBackground(node, { name, token: 0, mode: 'wake', place: 'leave' });
  }

  /** Resolves when all requests in flight are confirmed. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.underWay);
  }

  private async send(node: QuorumNode, { name, token, mode, place }: Ending): Promise<boolean> {
    const { claimTtl, instance, revocations: channels } = this.keys;
    const args = [instance, token, mode, place, channels, claimTtl, name];
    return isOne(await node.run('end', quorumReleaseScript, this.keys.of(name), args));
  }
}
