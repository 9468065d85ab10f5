import { isOne } from '../redis/connection/script-reply.js';
import { quorumReleaseScript } from '../scripts/quorum-release.script.js';
import { isAnswer, type Poll, type Vote } from './poll.js';
import { NotAsked, type QuorumKeys, type QuorumNode } from './quorum-node.js';
import { isTaken, type NodeAnswer } from './verdict.js';

/** The content of a request to a node that ends a hold, a grant or a wait. */
export interface Ending {
  readonly name: string;
  /** The owner id of a forced release; by default, this instance ends what it has. */
  readonly owner?: string;
  /** Ends grants up to this token; later requests for tokens up to it are outdated. 0 for a forced release. */
  readonly token: number;
  /** Whether to notify waiting instances, and with `revoke` also the holder. */
  readonly mode: 'wake' | 'quiet' | 'revoke';
  /** A place in the queue to take, `cancel` to leave it, or '' for neither. */
  readonly place: string;
}

/** Ends holds, grants without a majority, and places in queues. */
export class Endings {
  private readonly underWay = new Set<Promise<unknown>>();

  constructor(
    private readonly quorum: Poll,
    private readonly keys: QuorumKeys,
  ) {}

  /**
   * Sends an ending to all nodes; resolves to whether a majority still had the lock. Silent nodes count as if they had
   * it only for a forced release: they will end it as well.
   */
  everywhere(ending: Ending): Promise<boolean> {
    const { quorum } = this;
    return quorum.ask(
      async (node) => ({ released: await this.send(node, ending) }),
      (votes, open) => {
        const result = quorum.tally(votes, ({ released }) => released);
        if (result !== undefined || open > 0) return result;
        if (votes.filter(isAnswer).length < quorum.majority) throw quorum.noMajority(votes);
        return ending.mode === 'revoke';
      },
    );
  }

  /** Sends an ending for which no caller waits. If the request fails, the lease expires, as after a crash. */
  behind(ending: Ending, nodes = this.quorum.nodes): Promise<unknown> {
    const ended = Promise.allSettled(nodes.map((node) => this.send(node, ending)));
    this.underWay.add(ended);
    return ended.finally(() => this.underWay.delete(ended));
  }

  /**
   * Ends a proposal without a majority on the nodes that may have accepted it. A silent node may still receive it, and
   * no other request would end that grant. Nodes that were not asked receive nothing, so that requests do not accumulate
   * during an outage. Resolves when the reachable nodes have confirmed, at the latest after the time for a reply.
   */
  async afterVote(votes: readonly Vote<NodeAnswer>[], ending: Ending): Promise<void> {
    const confirmed = this.quorum.nodes.flatMap((node, i) => {
      const vote = votes[i];
      if (isTaken(vote) || (vote instanceof Error && vote.cause instanceof NotAsked)) return [];
      const ended = this.behind(ending, [node]);
      return vote instanceof Error ? [] : [ended];
    });
    await this.quorum.answerOf(Promise.all(confirmed)).catch(() => undefined);
  }

  /** Removes this instance from a node's queue, and passes on a lock that the node has reserved for it. */
  cancel(node: QuorumNode, name: string): void {
    void this.behind({ name, token: 0, mode: 'wake', place: 'cancel' }, [node]);
  }

  async settled(): Promise<void> {
    await Promise.allSettled(this.underWay);
  }

  private async send(node: QuorumNode, ending: Ending): Promise<boolean> {
    const { claimTtl, instance, revocations: channels } = this.keys;
    const { name, owner = instance, token, mode, place } = ending;
    const args = [owner, token, mode, place, channels, claimTtl, name];
    return isOne(await node.run('end', quorumReleaseScript, this.keys.of(name), args));
  }
}
