import { answerWithin } from '../../primitives/answer-within.js';
import type { Clock } from '../../primitives/clock.js';
import { messageOf } from '../../primitives/message-of.js';
import { AnswerWakeUp } from '../../primitives/wake-up.js';
import type { QuorumNode } from './quorum-node.js';

/** The reply of a node, the error instead of it, or undefined while the reply is missing. */
export type Vote<T> = T | Error | undefined;

/** Sends requests to all nodes of a quorum in parallel. */
export class Poll {
  readonly majority: number;

  constructor(
    readonly nodes: readonly QuorumNode[],
    private readonly clock: Clock,
    /** Milliseconds for one node's reply. */
    readonly timeout: number,
  ) {
    this.majority = majorityOf(nodes.length);
  }

  /**
   * Calls `decide` at each reply: it returns the result, or undefined while that depends on the `open` votes. Without
   * open votes, it must decide.
   */
  ask<T extends object, R>(
    request: (node: QuorumNode, index: number) => Promise<T>,
    decide: (votes: readonly Vote<T>[], open: number) => R | undefined,
    timeout = this.timeout,
  ): Promise<R> {
    const { clock, nodes } = this;
    return new Promise<R>((resolve, reject) => {
      const votes = nodes.map((): Vote<T> => undefined);
      let open = nodes.length;
      let decided = false;
      const count = (index: number, vote: T | Error): void => {
        if (decided) return;
        votes[index] = vote;
        open--;
        try {
          const result = decide(votes, open);
          if (result === undefined) return;
          resolve(result);
        } catch (error) {
          reject(error);
        }
        decided = true;
        timer.clear();
      };
      const endWait = (): void => {
        nodes.forEach((node, index) => {
          if (votes[index] === undefined) count(index, silence(node, timeout));
        });
      };
      const timer = new AnswerWakeUp(clock, endWait);
      timer.at(clock.now() + timeout);
      nodes.forEach((node, index) => {
        request(node, index).then(
          (answer) => count(index, answer),
          (error: unknown) => count(index, nodeError(node, error)),
        );
      });
    });
  }

  /** Waits for all nodes; resolves to their votes if a majority has answered. */
  askAll<T extends object>(request: (node: QuorumNode) => Promise<T>): Promise<readonly Vote<T>[]> {
    return this.ask<T, readonly Vote<T>[]>(request, (votes, open) => {
      if (open > 0) return undefined;
      if (votes.filter(isAnswer).length < this.majority) throw this.noMajority(votes);
      return votes;
    });
  }

  /** Resolves to one node's reply; rejects after the time for it. */
  answerOf<T>(answer: Promise<T>): Promise<T> {
    return answerWithin(this.clock, answer, this.timeout);
  }

  /** Whether a majority says yes; undefined if that is not decided. */
  tally<T extends object>(
    votes: readonly Vote<T>[],
    opinion: (answer: T) => boolean | undefined,
  ): boolean | undefined {
    let yes = 0;
    let no = 0;
    for (const answer of votes.filter(isAnswer)) {
      const says = opinion(answer);
      if (says) yes++;
      else if (says === false) no++;
    }
    if (yes >= this.majority) return true;
    return no > votes.length - this.majority ? false : undefined;
  }

  /** Creates the error with the outcome of each node; `describe` describes a reply. */
  noMajority<T extends object>(
    votes: readonly Vote<T>[],
    describe: (answer: T) => string = () => 'answered',
  ): AggregateError {
    const errors = votes.map((vote, i) =>
      vote instanceof Error
        ? vote
        : new Error(`${this.nodes[i]?.where}: ${vote ? describe(vote) : 'was not awaited'}`),
    );
    const answers = errors.map(({ message }) => message).join('; ');
    return new AggregateError(
      errors,
      `A majority of ${this.majority} of ${errors.length} Redis nodes did not answer: ${answers}`,
    );
  }
}

export function isAnswer<T extends object>(vote: Vote<T>): vote is T {
  return vote !== undefined && !(vote instanceof Error);
}

/** More than half of so many nodes. */
export function majorityOf(nodes: number): number {
  return Math.floor(nodes / 2) + 1;
}

function silence({ where, trouble }: QuorumNode, timeout: number): Error {
  return new Error(`${where}: did not answer within ${timeout} ms`, { cause: trouble });
}

export function nodeError({ where }: QuorumNode, cause: unknown): Error {
  return new Error(`${where}: ${messageOf(cause)}`, { cause });
}
